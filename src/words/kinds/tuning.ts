import type { StoredTuning, TuningTrial } from "../../protocol/jobs/tuning.ts";
import { describeClock } from "../history.ts";
import { formatDuration, type Numbers, PAGE_NUMBERS } from "../numbers.ts";
import type { Tone } from "../tone.ts";
import { describeShape, type Fact, type KindWords, linkKernel } from "./kind.ts";

export const tuning: KindWords<"tuning"> = {
  kind: "tuning",
  name: ({ kernel }) => kernel,
  parts: (spec, figures) => [...describeShape(spec, figures), `${formatDuration(spec.budgetMs)} budget`],
  result: ({ tuning: found, trials, cached }, figures) => {
    const { kernel, shape, best, untuned, candidates, clock } = found;
    const { sizes } = figures;
    return {
      facts: [
        ["kernel", `${kernel} ${sizes(shape)}, by ${describeClock({ clock })}`],
        ["best", `${best.variant} ${sizes(best.axes)}`],
        ["best time", { distribution: best.ms, unit: "ms" }],
        ...(untuned === null
          ? []
          : ([
              ["default", `${untuned.variant} ${sizes(untuned.axes)}`],
              ["default time", { distribution: untuned.ms, unit: "ms" }],
            ] satisfies Fact[])),
        ["gain", describeGain(found, figures)],
        [
          "searched",
          `${trials.length} of ${candidates} candidates (${countOutcomes(trials)}) ${cached ? "before: the answer was known" : describeSearch(found)}`,
        ],
      ],
    };
  },
  links: ({ spec: { kernel } }) => [linkKernel(kernel)],
  again: (spec) => spec,
};

/** Speed-up of the best choice over the default, with an interval if there are enough runs. */
export function describeGain({ gain }: Pick<StoredTuning, "gain">, { number }: Numbers = PAGE_NUMBERS): string {
  if (gain === null) return "the default does not run here";
  if (gain.ratio <= 1) return "no: the default stays";
  const range = gain.low === null || gain.high === null ? "" : ` (${number(gain.low)} to ${number(gain.high)})`;
  return `${number(gain.ratio)} ×${range}`;
}

/** Cost of the search. */
export function describeSearch({ spentMs, complete }: Pick<StoredTuning, "spentMs" | "complete">): string {
  return `in ${formatDuration(spentMs)}${complete ? "" : ", cut short"}`;
}

/** Badge of each outcome of a trial. */
export const TRIAL_OUTCOMES: Record<TuningTrial["outcome"], readonly [Tone, string]> = {
  timed: ["good", "timed"],
  "too-slow": ["quiet", "too slow"],
  wrong: ["bad", "wrong"],
  invalid: ["warn", "invalid"],
  untried: ["quiet", "not tried"],
};

function countOutcomes(trials: readonly TuningTrial[]): string {
  const counts = Map.groupBy(trials, ({ outcome }) => outcome);
  return [...counts].map(([outcome, some]) => `${some.length} ${TRIAL_OUTCOMES[outcome][1]}`).join(", ");
}
