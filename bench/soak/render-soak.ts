import type { Growth } from "./judge-growth.ts";
import type { SoakFigures } from "./soak-figures.ts";

/** The figures as Markdown for the document. */
export function renderSoak(figures: SoakFigures): string {
  const { soak, overload, jobs, growth, idleGpuBytes, recoveredS } = figures;
  const rows = [
    ["capacity, with jobs running", `${figures.capacityPerSecond.toFixed(0)} requests a second`],
    [
      "soak",
      `${(soak.seconds / 60).toFixed(0)} min at ${soak.ratePerSecond.toFixed(0)}/s, budget ${figures.budgetMs} ms`,
    ],
    ["of its requests by status", countsText(soak.counts)],
    [
      "p50, p99",
      `${ms(soak.p50Ms)}, ${ms(soak.p99Ms)} ms (the generator itself was ${ms(soak.lagP99Ms)} ms late at p99)`,
    ],
    ["jobs meanwhile", countsText(jobs)],
    ["GPU buffers in use at rest", idleGpuBytes === null ? "not reported" : `${idleGpuBytes} bytes`],
    ["overload", `${overload.seconds} s at ${overload.ratePerSecond.toFixed(0)}/s`],
    ["of its requests by status", countsText(overload.counts)],
    [
      "refusals, p50, p99",
      `${ms(overload.refusedP50Ms)}, ${ms(overload.refusedP99Ms)} ms (generator ${ms(overload.lagP99Ms)} ms late at p99)`,
    ],
    ["answers, p99", `${ms(overload.p99Ms)} ms`],
    ["all answered again after", recoveredS === null ? "more than half a minute" : `${recoveredS} s`],
  ] as const;
  const table = ["| | |", "| --- | --- |", ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
  const trends = ["| over the soak | median | an hour | flat |", "| --- | --- | --- | --- |", ...growth.map(growthRow)];
  const mib = (bytes: number | null) => (bytes === null ? "not read" : `${(bytes / 2 ** 20).toFixed(1)} MiB`);
  const live = [
    "| in use after a collection | as the trends begin | at the end |",
    "| --- | --- | --- |",
    ...figures.live.map(({ role, firstBytes, lastBytes }) => `| ${role} | ${mib(firstBytes)} | ${mib(lastBytes)} |`),
  ];
  return `${[table, trends, live].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function growthRow({ name, unit, median, perHour, isFlat }: Growth): string {
  const signed = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
  const slope =
    perHour === null ? "too short" : `${signed(perHour.slope)} (${signed(perHour.low)} to ${signed(perHour.high)})`;
  return `| ${name} | ${median.toFixed(1)} ${unit} | ${slope} | ${perHour === null ? "–" : isFlat ? "yes" : "no"} |`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ");
}

function ms(value: number | null): string {
  return value === null ? "–" : value.toFixed(1);
}
