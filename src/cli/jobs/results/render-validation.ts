import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import type { OptimisationResult, OptimisationTrial } from "../../../protocol/jobs/optimisation.ts";
import type { ValidationResult } from "../../../protocol/jobs/validation.ts";
import type { Requirement, Verdict } from "../../../protocol/models/requirement.ts";
import type { ScenarioResult } from "../../../protocol/models/scenario.ts";
import { formatSize, formatSizes, formatValue, formatWith } from "../../render/format-values.ts";
import { paint, renderFacts, renderTable, type Tone } from "../../render/render-table.ts";
import { distributionLine } from "../../render/sparkline.ts";
import type { Canvas } from "./render-result.ts";

/** A model, or a kernel with its sizes. */
export function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : `${subject.kernel} ${formatSizes(subject.shape)}`.trim();
}

/** An optimisation: what cannot be beaten, which of it is best, and what came of it; or what came nearest. */
export function renderOptimisation(result: OptimisationResult, canvas: Canvas): string {
  const { subject, trials, pareto, best, infeasible, gain, applied, candidates, complete, targets } = result;
  const shown = [...new Set([result.default, ...pareto, best, infeasible?.nearest ?? null])].filter(
    (each) => each !== null,
  );
  const rows = shown.flatMap((index) => {
    const trial = trials[index];
    return trial === undefined ? [] : [[markOf(index, result), ...cellsOf(trial)]];
  });
  const latency = `p${formatValue(100 * targets.percentile)} ms`;
  const table = renderTable([["", "candidate", "rows/s", latency, "memory", "fidelity"], ...rows], canvas.columns);
  const verdict =
    infeasible === null
      ? paint(canvas, "good", "FOUND")
      : `${paint(canvas, "bad", "INFEASIBLE")}: ${infeasible.detail}`;
  return `${table}${renderFacts([
    ["subject", nameSubject(subject)],
    ["searched", `${trials.length} of ${candidates} candidates${complete ? "" : ", until the time was up"}`],
    ...(gain === null
      ? []
      : [["gain", `${timesOf(gain.throughput)} the throughput, ${timesOf(gain.latency)} as quick`] as const]),
    ...(applied === null ? [] : [[applied.applied ? "applied" : "not applied", applied.detail] as const]),
    ["verdict", verdict],
  ])}`;
}

function markOf(index: number, { best, infeasible, default: standing }: OptimisationResult): string {
  const marks = [index === standing && "now", index === best && "best", index === infeasible?.nearest && "nearest"];
  return marks.filter((mark) => mark !== false).join(", ");
}

function cellsOf({ candidate, throughputPerS, latencyMs, memoryBytes, fidelity }: OptimisationTrial): string[] {
  const { variant, deviceKey, backend, threads, maxRows, concurrency } = candidate;
  return [
    `${variant} ${deviceKey} ${backend} threads=${threads} rows=${maxRows} inFlight=${concurrency}`,
    formatWith(throughputPerS, "").trim(),
    formatWith(latencyMs, "").trim(),
    formatSize(memoryBytes),
    formatWith(fidelity, "").trim(),
  ];
}

function timesOf(factor: number | null): string {
  return factor === null ? "?" : `${formatValue(factor)}×`;
}

const TONES: Record<Verdict["outcome"], Tone> = { pass: "good", fail: "bad", insufficient: "doubtful" };
const WORDS: Record<Verdict["outcome"], string> = { pass: "PASS", fail: "FAIL", insufficient: "INSUFFICIENT" };

/** A validation: each scenario, each requirement as it was judged, and the verdict last. */
export function renderValidation(result: ValidationResult, canvas: Canvas): string {
  const { subject, place, scenarios, verdicts, verdict, memory, startup } = result;
  const facts = renderFacts([
    ["subject", `${nameSubject(subject)} ${place.variant} on ${place.deviceKey} by ${place.backend}`],
    ...scenarios.flatMap(factsOf),
    ["memory", `${formatSize(memory.hostPeakBytes)} of the process, ${formatSize(memory.gpuPeakBytes)} on the device`],
    [
      "start-up",
      `${formatWith(startup.loadMs, "ms")} to load, ${formatWith(startup.firstAnswerMs, "ms")} to the first answer`,
    ],
  ]);
  const rows = verdicts.map((each) => [
    WORDS[each.outcome],
    writeRequirement(each.requirement),
    placeOf(each),
    measuredOf(each),
  ]);
  const tone = (row: number, column: number) =>
    column === 0 ? TONES[verdicts[row - 1]?.outcome ?? "pass"] : undefined;
  const table = renderTable([["", "requirement", "under", "measured"], ...rows], canvas.columns, (text, row, column) =>
    row === 0 ? text : paint(canvas, tone(row, column), text),
  );
  const end = rows.length === 0 ? "no requirements: nothing to judge" : paint(canvas, TONES[verdict], WORDS[verdict]);
  return `${facts}${rows.length === 0 ? "" : table}${renderFacts([["verdict", end]])}`;
}

function factsOf({
  scenario,
  path,
  latencyMs,
  samplesPerS,
  errors,
  queries,
  server,
  short,
}: ScenarioResult): [string, string][] {
  const name = `${scenario.kind}${path === "edge" ? " by edge" : ""}`;
  const rate =
    server === null
      ? `${formatValue(samplesPerS)} samples/s`
      : `holds ${formatWith(server.highestRatePerS, "/s")} within ${server.boundMs} ms`;
  const failed = errors === 0 ? "" : `, ${errors} of ${queries} failed`;
  return [
    [name, `${rate}${failed}${short ? " (shorter than MLPerf's full length)" : ""}`],
    ...(latencyMs === null ? [] : [["", distributionLine(latencyMs, "ms")] satisfies [string, string]]),
  ];
}

/** As `--require` takes it: `latencyMs p99 <= 10`. */
export function writeRequirement({ metric, percentile, atMost, atLeast }: Requirement): string {
  const of = metric === "latencyMs" ? ` p${formatValue(100 * (percentile ?? 0.99))}` : "";
  return `${metric}${of} ${atMost === undefined ? `>= ${atLeast ?? "?"}` : `<= ${atMost}`}`;
}

function placeOf({ scenario, path }: Verdict): string {
  if (scenario === null) return "–";
  return path === "edge" ? `${scenario} by edge` : scenario;
}

function measuredOf({ measured, low, high, margin }: Verdict): string {
  if (measured === null) return "nothing";
  const ends = [low, high].map((end) => (end === null ? "?" : formatValue(end)));
  const range = low === null && high === null ? "" : ` (${ends.join(" to ")})`;
  if (margin === null) return `${formatValue(measured)}${range}`;
  const percent = formatValue(Math.abs(100 * margin));
  return `${formatValue(measured)}${range}, ${margin < 0 ? `missed by ${percent} %` : `${percent} % left`}`;
}
