import type { TuningResult } from "../../protocol/tuning.ts";
import { distributionLine } from "../render/distribution-line.ts";
import { formatSizes, formatSpan, formatValue } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";

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
