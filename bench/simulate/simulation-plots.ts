import type { PlotSpec } from "../../src/edge/plots/plot-spec.ts";
import type { SimulationResult } from "./summarise-simulation.ts";

/** Plots answers in budget, the work of the devices, and latency, each over the offered load. */
export function loadPlot(results: readonly SimulationResult[]): PlotSpec {
  const line = (of: (result: SimulationResult) => number) =>
    results.map((result) => [result.offeredPerSecond, of(result)] as const);
  const answered = results.filter(({ latencyMs }) => latencyMs !== null);
  const latency = (of: (latencyMs: NonNullable<SimulationResult["latencyMs"]>) => number) =>
    answered.map((result) => [result.offeredPerSecond, of(result.latencyMs!)] as const);
  const runners = results[0]?.runners ?? 0;
  return {
    title: `Simulated fleet of ${runners} runners: goodput by load`,
    description: results
      .map((each) => `${Math.round(each.offeredPerSecond)}/s offered, ${Math.round(each.goodputPerSecond)}/s in budget`)
      .join("; "),
    xLabel: "requests offered a second",
    panels: [
      {
        label: "a second",
        layers: [
          {
            kind: "line",
            name: "offered",
            colour: "second",
            dashed: true,
            points: line((each) => each.offeredPerSecond),
          },
          { kind: "line", name: "answered in budget", colour: "first", points: line((each) => each.goodputPerSecond) },
        ],
      },
      {
        label: "devices at work, %",
        layers: [{ kind: "line", colour: "third", points: line((each) => 100 * each.utilisation) }],
      },
      {
        label: "latency of answers in budget, ms",
        layers: [
          { kind: "line", name: "p50", colour: "first", dashed: true, points: latency(({ p50 }) => p50) },
          { kind: "line", name: "p99", colour: "third", points: latency(({ p99 }) => p99) },
        ],
      },
    ],
  };
}

/** Plots the distributions of latencies and of the tenants' shares, at each load. */
export function spreadPlot(results: readonly SimulationResult[]): PlotSpec {
  const colours = ["first", "second", "third", "good", "bad"] as const;
  const named = results.map((result, index) => ({
    result,
    name: `${Math.round(result.offeredPerSecond)}/s`,
    colour: colours[index % colours.length]!,
  }));
  return {
    title: "Latency of answers in budget, and what tenants got",
    description: named
      .map(({ result, name }) => `${name}: fairness over tenants ${result.fairness.tenants.toFixed(4)}`)
      .join("; "),
    xLabel: "% of answers, or of tenants from the worst served on",
    panels: [
      {
        label: "latency, ms",
        layers: named.flatMap(({ result: { latencyMs }, name, colour }) =>
          latencyMs === null
            ? []
            : [{ kind: "line" as const, name, colour, points: latencyMs.quantiles.map((ms, at) => [at, ms] as const) }],
        ),
      },
      {
        label: "answered in budget, % of the tenant's requests",
        layers: named.map(({ result: { tenantShares }, colour }) => ({
          kind: "line",
          colour,
          points: tenantShares
            .toSorted((a, b) => a - b)
            .map((share, at) => [(100 * (at + 0.5)) / tenantShares.length, 100 * share] as const),
        })),
      },
    ],
  };
}
