import type { ColourName, PlotLayer, PlotSpec } from "../../src/edge/plots/plot-spec.ts";
import type { LoadRecord } from "./load-record.ts";
import type { Role } from "./sample-processes.ts";
import type { Soaked } from "./soak-figures.ts";
import type { TimedSample } from "./watch-processes.ts";

const MIB = 2 ** 20;
const COLOURS: readonly ColourName[] = ["first", "second", "third", "good", "bad"];
/** Seconds in a point of a plot. */
const SOAK_WINDOW = 10;
const OVERLOAD_WINDOW = 1;

/** Memory and descriptors of each process, answered share and p99, over the minutes of the soak. */
export function soakPlot({ samples, soak, figures }: Soaked): PlotSpec {
  const memory = byRole(samples, ({ residentBytes }) => residentBytes / MIB);
  // The legend names each process once.
  const descriptors = byRole(samples, (sample) => sample.descriptors).map(({ kind, colour, points }): PlotLayer => ({
    kind,
    colour,
    points,
  }));
  return {
    title: `${(figures.soak.seconds / 60).toFixed(0)} minutes at ${figures.soak.ratePerSecond.toFixed(0)} requests a second, with jobs`,
    description: "Memory and open files of each process, and the 99th percentile of latency, over time.",
    xLabel: "minutes",
    panels: [
      { label: "resident memory, MiB", layers: memory },
      { label: "open files", layers: descriptors },
      { label: "p99 of 10 s, ms", layers: [latencyLine(soak, SOAK_WINDOW, 60)] },
    ],
  };
}

/** Answers and p99 by the second, during the overload and after it. */
export function overloadPlot({ overload, recovery, figures }: Soaked): PlotSpec {
  const startS = figures.overload.seconds;
  const answers = (record: LoadRecord, fromS: number) =>
    record.windows(OVERLOAD_WINDOW).map(({ atS, answered }) => [atS + fromS, answered] as const);
  const p99 = (record: LoadRecord, fromS: number) =>
    record
      .windows(OVERLOAD_WINDOW)
      .flatMap(({ atS, p99Ms }) => (p99Ms === null ? [] : [[atS + fromS, p99Ms] as const]));
  return {
    title: `${figures.overload.ratePerSecond.toFixed(0)} requests a second for ${startS} s, then ${figures.soak.ratePerSecond.toFixed(0)}`,
    description:
      "Requests answered in each second, and the 99th percentile of their latency, during the overload and behind it.",
    xLabel: "seconds",
    panels: [
      {
        label: "answered a second",
        layers: [
          {
            kind: "line",
            name: "answered",
            colour: "first",
            points: [...answers(overload, 0), ...answers(recovery, startS)],
          },
          { kind: "rule", axis: "x", at: startS, colour: "bad", text: "overload ends" },
          { kind: "rule", axis: "y", at: figures.capacityPerSecond, colour: "good", text: "capacity" },
        ],
      },
      {
        label: "p99 of those, ms",
        layers: [
          { kind: "line", colour: "first", points: [...p99(overload, 0), ...p99(recovery, startS)] },
          { kind: "rule", axis: "y", at: figures.budgetMs, colour: "bad", text: "budget" },
        ],
      },
    ],
  };
}

function latencyLine(record: LoadRecord, windowS: number, unitS: number): PlotLayer {
  const points = record
    .windows(windowS)
    .flatMap(({ atS, p99Ms }) => (p99Ms === null ? [] : [[atS / unitS, p99Ms] as const]));
  return { kind: "line", colour: "first", points };
}

function byRole(
  samples: readonly TimedSample[],
  of: (sample: { residentBytes: number; descriptors: number }) => number,
) {
  const roles = [...new Set(samples.flatMap((sample) => [...sample.roles.keys()]))];
  return roles.map((role: Role, index) => ({
    kind: "line" as const,
    name: role,
    colour: COLOURS[index % COLOURS.length]!,
    points: samples.flatMap((sample) => {
      const found = sample.roles.get(role);
      return found === undefined ? [] : [[sample.atS / 60, of(found)] as const];
    }),
  }));
}
