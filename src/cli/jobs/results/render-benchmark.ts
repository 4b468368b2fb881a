import type { BenchmarkResult } from "../../../protocol/jobs/benchmark.ts";
import type { TuningResult } from "../../../protocol/jobs/tuning.ts";
import { formatSizes, formatSpan, formatValue, formatWith } from "../../render/format-values.ts";
import { renderBar } from "../../render/progress-line.ts";
import { renderFacts } from "../../render/render-table.ts";
import { distributionLine } from "../../render/sparkline.ts";

const ROOF_COLUMNS = 20;

/** A benchmark: which program, by which clock, how fast, and how near its roof. */
export function renderBenchmark(result: BenchmarkResult): string {
  const { kernel, variant, shape, dtype, tuned, axes, gpuMs, wallMs, clock, gflops, gigabytesPerSecond } = result;
  const { checkedElements, maxRelativeError, tolerance } = result.correctness;
  const settings = [variant, dtype, formatSizes(axes), tuned ? "tuned" : ""].filter((text) => text !== "");
  return renderFacts([
    ["kernel", `${kernel} ${formatSizes(shape)} (${settings.join(", ")})`],
    ["correct", `${checkedElements} elements, off by ${maxRelativeError.toExponential(1)} at most; ${tolerance}`],
    ...(gpuMs === null ? [] : [["GPU time", distributionLine(gpuMs, "ms")] as const]),
    ["wall time", distributionLine(wallMs, "ms")],
    [
      "rate",
      `${gflops === null ? "" : `${formatWith(gflops, "GFLOP/s")}, `}${formatWith(gigabytesPerSecond, "GB/s")} by ${clock}`,
    ],
    ...roofOf(result),
    ...(result.fallback === undefined ? [] : [["answered by", "the reference on the CPU: the device failed"] as const]),
  ]);
}

function roofOf({ roofline }: BenchmarkResult): [string, string][] {
  if (roofline === null || roofline.shareOfRoof === null || roofline.roof === null) return [];
  const { shareOfRoof, roof, unit, bound } = roofline;
  const bar = renderBar(shareOfRoof, ROOF_COLUMNS);
  return [
    [
      "roof",
      `▕${bar}▏ ${(100 * shareOfRoof).toFixed(0)} % of ${formatWith(roof, unit)}${bound === null ? "" : `, ${bound}-bound`}`,
    ],
  ];
}

/** A tuning: what is fastest, by how much, and what was tried for it. */
export function renderTuning({ tuning, trials, cached }: TuningResult): string {
  const { kernel, shape, best, untuned, gain, candidates, spentMs, complete, clock } = tuning;
  const interval =
    gain === null || gain.low === null || gain.high === null
      ? ""
      : ` (${formatValue(gain.low)} to ${formatValue(gain.high)})`;
  const outcomes = new Map<string, number>();
  for (const { outcome } of trials) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const counts = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  const time = cached
    ? "known before, nothing was timed"
    : `${formatSpan(spentMs)}${complete ? "" : ", until the time was up"}`;
  return renderFacts([
    ["kernel", `${kernel} ${formatSizes(shape)}, by ${clock}`],
    ["best", `${best.variant} ${formatSizes(best.axes)}`],
    ["", distributionLine(best.ms, "ms")],
    ...(untuned === null
      ? []
      : ([
          ["untuned", `${untuned.variant} ${formatSizes(untuned.axes)}`],
          ["", distributionLine(untuned.ms, "ms")],
        ] as const)),
    ...(gain === null ? [] : [["gain", `${formatValue(gain.ratio)} times faster${interval}`] as const]),
    ["searched", `${trials.length} of ${candidates} candidates (${counts}); ${time}`],
  ]);
}
