import type { EvaluatedEntrant, RolloutThroughput } from "../../protocol/jobs/evaluation/evaluation.ts";
import { formatDuration, type Numbers } from "../numbers.ts";
import { nameDevice } from "../runners.ts";
import {
  describeEstimate,
  type Fact,
  type Figures,
  type KindWords,
  type ResultOf,
  type SpecOf,
  type Value,
} from "./kind.ts";

export const evaluation: KindWords<"evaluation"> = {
  kind: "evaluation",
  name: ({ environment }) => environment,
  parts: (spec, figures) => [
    nameEntrants(spec, figures),
    `${figures.number(spec.episodes)} episodes each, seed ${spec.seed}`,
  ],
  result: (result, figures) => {
    const { task, episodes, seed, entrants } = result;
    return {
      table: {
        caption: "Scores",
        columns: ["policy", "mean return", "interquartile mean", "length", "ended by", "share above 0 … 1"],
        rows: entrants.map((entrant) => describeEntrant(entrant, figures)),
      },
      facts: [
        ["environment", `${task.name}, ${figures.number(episodes)} episodes each, seed ${seed}`],
        ...entrants.flatMap(({ name, failed: [first], failedMembers }): Fact[] =>
          first === undefined ? [] : [["failed", `${failedMembers} of ${name}: ${first.reason}`]],
        ),
        ...describeRollout(result, figures),
      ],
    };
  },
  links: ({ runId }) => [{ text: "Returns and episodes", address: { view: "evaluations", run: runId } }],
  again: ({ entrants, ...asked }) => {
    const population = entrants.find(({ populationId }) => populationId !== undefined)?.populationId;
    return population === undefined
      ? { ...asked, policies: entrants.map(({ name }) => name) }
      : { ...asked, population };
  },
};

const NAMED = 3;

/** The first entrants by name, and how many more there are. */
export function nameEntrants({ entrants }: Pick<SpecOf<"evaluation">, "entrants">, { number }: Numbers): string {
  const named = entrants
    .slice(0, NAMED)
    .map(({ name, members }) => (members === 1 ? name : `${name} (${number(members)} members)`));
  const left = entrants.length - named.length;
  return `${named.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function describeEntrant({ name, scores, meanLength, causes }: EvaluatedEntrant, figures: Figures): Value[] {
  const ended = describeCauses(causes, figures);
  if (scores === null) return [name, "–", "–", "–", ended, "–"];
  return [
    name,
    describeEstimate(scores.mean, figures),
    describeEstimate(scores.iqm, figures),
    figures.number(meanLength ?? 0),
    ended,
    { course: scores.profile.map(({ value }) => value) },
  ];
}

/** Why episodes ended, with counts. */
export function describeCauses(
  { terminated, truncated, both }: EvaluatedEntrant["causes"],
  { number }: Numbers,
): string {
  const counts = [
    [terminated, "the environment"],
    [truncated, "the limit of steps"],
    [both, "both at once"],
  ] as const;
  return counts.flatMap(([count, cause]) => (count === 0 ? [] : [`${cause}: ${number(count)}`])).join(", ") || "–";
}

/** Speed of the episodes, number of parts, and their check beforehand. */
export function describeRollout(
  { throughput, waves, proof, faults = [] }: ResultOf<"evaluation">,
  numbers: Numbers,
): (readonly [string, string])[] {
  return [
    ...(throughput === null
      ? []
      : ([
          ["speed", describeSpeed(throughput, numbers)],
          ["of", describeWork(throughput, numbers)],
          ...describeShares(throughput, numbers),
        ] as const)),
    ...faults.map(({ detail }) => ["fault", detail] as const),
    ...(waves > 1 ? [["split", `into ${waves} parts: it exceeds the memory`] as const] : []),
    ...(proof === null
      ? []
      : [["checked first", `${proof.agreeing} of ${proof.steps} steps agree with the reference`] as const]),
  ];
}

/** What each of several devices did, with its speed. */
export function describeShares(
  { devices = [] }: RolloutThroughput,
  { number }: Numbers,
): (readonly [string, string])[] {
  return devices.map(({ deviceKey, deviceName, pciAddress, evaluations, steps, durationMs, stepsPerSecond }) => {
    const device = nameDevice({ key: deviceKey, name: deviceName, pciAddress });
    const work = `${number(evaluations)} episodes, ${number(steps)} steps in ${formatDuration(durationMs)}`;
    return ["shared by", `${device}: ${work}, ${number(stepsPerSecond)} steps/s`] as const;
  });
}

function describeWork({ members, parameters, steps, durationMs }: RolloutThroughput, { number }: Numbers): string {
  const policies = members === 1 ? "1 policy" : `${number(members)} policies`;
  return `${policies} of ${number(parameters)} parameters, ${number(steps)} steps in ${formatDuration(durationMs)}`;
}

/** `1,200,000 steps/s, 9,000 evaluations/s by cpu-simd, inference included`. */
export function describeSpeed(
  { stepsPerSecond, evaluationsPerSecond, backend }: RolloutThroughput,
  { number }: Numbers,
): string {
  const rates = `${number(stepsPerSecond)} steps/s, ${number(evaluationsPerSecond)} evaluations/s`;
  return `${rates} by ${backend}, inference included`;
}
