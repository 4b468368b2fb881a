import type { Numbers } from "../numbers.ts";
import { describeShares, describeSpeed } from "./evaluation.ts";
import { describeEstimate, type Fact, type KindWords, linkModel, type ResultOf } from "./kind.ts";

export const training: KindWords<"training"> = {
  kind: "training",
  name: ({ environment }) => environment,
  parts: ({ algorithm, generations, stopAt }, { number }) => [
    algorithm.name,
    `${number(generations)} generations`,
    stopAt === undefined ? undefined : `until a return of ${number(stopAt)}`,
  ],
  result: (result, figures) => {
    const { task, algorithm, generations, curve, published } = result;
    const returns = curve.map(({ fresh, mean }) => fresh ?? mean);
    return {
      facts: [
        ["environment", `${task.name} by ${algorithm.name}, ${figures.number(generations)} generations`],
        ...(returns.length === 0 ? [] : [["curve", { course: returns }] satisfies Fact]),
        ...describeOutcome(result, figures),
        ...(published === null
          ? []
          : [["published", `${published.model}: millrace act ${published.model} --observation -`] satisfies Fact]),
      ],
    };
  },
  verdict: ({ solvedAtGeneration }, { stopAt }) =>
    stopAt !== undefined && solvedAtGeneration === null ? "fail" : "pass",
  links: ({ id, spec: { publish }, result: { qualityDiversity } }) => [
    { text: "Learning curve in depth", address: { view: "evaluations", job: id } },
    ...(publish === undefined ? [] : [linkModel(publish.model)]),
    ...(qualityDiversity === null ? [] : [{ text: "Archives of elites", address: { view: "archives" } } as const]),
  ],
  again: ({ archiveFile: _file, ...asked }) => asked,
};

/** Score of the best policy, when it was reached, and the speed of the training. */
export function describeOutcome(
  { best, solvedAtGeneration, resumedFrom, throughput, faults = [] }: ResultOf<"training">,
  numbers: Numbers,
): (readonly [string, string])[] {
  return [
    ["best policy", `${describeEstimate(best.mean, numbers)} over ${best.episodes} episodes that chose nothing`],
    ["solved", solvedAtGeneration === null ? "no" : `after generation ${solvedAtGeneration}`],
    ...(resumedFrom === null ? [] : [["resumed", `from the checkpoint after generation ${resumedFrom}`] as const]),
    ["speed", describeSpeed(throughput, numbers)],
    ...describeShares(throughput, numbers),
    ...faults.map(({ detail }) => ["fault", detail] as const),
  ];
}
