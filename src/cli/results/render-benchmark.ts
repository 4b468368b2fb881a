import type { BenchmarkResult } from "../../protocol/benchmark.ts";
import { distributionLine } from "../render/distribution-line.ts";
import { formatSizes, formatWith } from "../render/format-values.ts";
import { renderBar } from "../render/progress-line.ts";
import { renderFacts } from "../render/render-facts.ts";

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
