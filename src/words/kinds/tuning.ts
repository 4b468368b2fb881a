import type { NetworkTuning, StoredTuning, Tuning, TuningTrial } from "../../protocol/jobs/tuning.ts";
import { PLAIN } from "../../protocol/models/network-layout.ts";
import { describeClock } from "../history.ts";
import { formatDuration, type Numbers, PAGE_NUMBERS } from "../numbers.ts";
import type { Tone } from "../tone.ts";
import {
  describeShape,
  type Fact,
  type Figures,
  type KindWords,
  linkKernel,
  linkModel,
  type ResultWords,
} from "./kind.ts";

export const tuning: KindWords<"tuning"> = {
  kind: "tuning",
  name: ({ kernel, model }) => kernel ?? model ?? "",
  parts: (spec, figures) => [
    ...(spec.model === undefined ? describeShape(spec, figures) : [spec.variant]),
    `${formatDuration(spec.budgetMs)} budget`,
  ],
  result: (result, figures) => {
    const { tuning: found, trials = [], network, cached } = result;
    if (network !== undefined) return describeNetwork(network, figures);
    return { facts: found === undefined ? [] : describeKernel(found, trials, cached, figures) };
  },
  links: ({ spec: { kernel, model } }) =>
    kernel !== undefined ? [linkKernel(kernel)] : [linkModel(model?.split("@", 1)[0] ?? "")],
  again: ({ modelVersionId: _version, ...asked }) => asked,
};

function describeKernel(found: Tuning, trials: readonly TuningTrial[], cached: boolean, figures: Figures): Fact[] {
  const { kernel, shape, best, untuned, candidates, clock } = found;
  const { sizes } = figures;
  return [
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
  ];
}

/** A row for every size: what served before, what serves now, and what was tried. */
function describeNetwork(network: NetworkTuning, figures: Figures): ResultWords {
  const { model, variant, sizes, sizesLeft = 0, reloaded, reloadProblem, spentMs } = network;
  const complete = sizesLeft === 0 && sizes.every((each) => each.complete);
  return {
    table: {
      caption: "Layouts",
      columns: ["inputs", "before", "time before", "now", "time now", "gain", "tried"],
      rows: sizes.map(({ inputs, before, after, gain, trials }) => [
        Object.entries(inputs)
          .map(([name, shape]) => `${name} ${shape.join("×")}`)
          .join(", "),
        describeLayout(before.layout),
        figures.measure(before.ms.p50, "ms"),
        describeLayout(after.layout),
        figures.measure(after.ms.p50, "ms"),
        gain.ratio <= 1 ? "none" : `${figures.number(gain.ratio)} ×`,
        `${trials.length} (${trials.filter(({ ms }) => ms === null).length} left out)`,
      ]),
    },
    facts: [
      ["model", `${model} ${variant}`],
      ["served", reloaded ? "by it since" : "by it from its next load on"],
      ...(reloadProblem === undefined ? [] : ([["not loaded again", reloadProblem.detail]] satisfies Fact[])),
      ["searched", describeSearch({ spentMs, complete })],
      ...(sizesLeft === 0 ? [] : ([["sizes left out", `${sizesLeft}: the budget ended first`]] satisfies Fact[])),
    ],
  };
}

function describeLayout({
  lanes,
  spreadFrom,
  tiling,
  groupsAtMost,
  lineLanes,
  hasAttention,
  hasNarrowProducts,
}: NetworkTuning["sizes"][number]["after"]["layout"]): string {
  return [
    `${lanes} lanes`,
    spreadFrom === 0 ? "every operator spread" : spreadFrom > 1e9 ? "one dispatch" : `spread from ${spreadFrom}`,
    ...(groupsAtMost === PLAIN.groupsAtMost ? [] : [`up to ${groupsAtMost} workgroups`]),
    ...(lineLanes === null ? [] : [`lines by ${lineLanes} lanes`]),
    ...(hasAttention ? ["attention in one step"] : []),
    ...(hasNarrowProducts ? ["products in the arithmetic of their weights"] : []),
    tiling === null ? "no tiles" : `tiles ${tiling}`,
  ].join(", ");
}

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
