import type { OptimisationTrial } from "../../protocol/jobs/optimisation.ts";
import { nameSubject } from "../jobs.ts";
import { formatDuration, formatShare } from "../numbers.ts";
import type { Tone } from "../tone.ts";
import { describeSettings, formatTarget, nameCandidate, nameTarget } from "../validation.ts";
import { describeSubject, type Fact, type Figures, type Judged, type KindWords, type ResultOf } from "./kind.ts";

const OUTCOMES = {
  pass: ["good", "found"],
  fail: ["bad", "infeasible"],
  insufficient: ["bad", "infeasible"],
} as const;

export const optimisation: KindWords<"optimisation"> = {
  kind: "optimisation",
  name: ({ subject }) => nameSubject(subject),
  parts: ({ subject, budgetMs }, figures) => [
    ...describeSubject(subject, figures),
    `${formatDuration(budgetMs)} budget`,
  ],
  wanted: ({ targets, objective }) => {
    const named = (["latencyMs", "throughputPerS", "memoryBytes"] as const).flatMap((target) => {
      const wanted = targets[target];
      const sign = target === "throughputPerS" ? "≥" : "≤";
      return wanted === undefined ? [] : [`${nameTarget(target, targets)} ${sign} ${formatTarget(target, wanted)}`];
    });
    return named.join(", ") || `the best ${objective}`;
  },
  result: (result, figures) => {
    const { subject, trials, pareto, best, infeasible, gain, applied, targets } = result;
    const shown = new Set([result.default, ...pareto, best, infeasible?.nearest ?? null]);
    const [tone, word] = OUTCOMES[infeasible === null ? "pass" : "fail"];
    return {
      table: {
        caption: "Configurations",
        columns: ["configuration", "standing", "throughput", nameTarget("latencyMs", targets), "memory", "fidelity"],
        rows: trials.flatMap((trial, index) =>
          shown.has(index) ? [describeTrial(trial, describeStanding(result, index), figures)] : [],
        ),
      },
      facts: [
        ["subject", nameSubject(subject)],
        ["searched", describeTried(result)],
        ...(gain === null
          ? []
          : [
              [
                "gain",
                `${times(gain.throughput, figures)} the throughput, ${times(gain.latency, figures)} as quick`,
              ] satisfies Fact,
            ]),
        ...(applied === null ? [] : [[applied.applied ? "applied" : "not applied", applied.detail] satisfies Fact]),
        ["verdict", { tone, word, ...(infeasible !== null && { detail: infeasible.detail }) }],
      ],
    };
  },
  verdict: ({ best }) => (best === null ? "fail" : "pass"),
  outcomes: OUTCOMES,
  links: ({ runId }) => [{ text: "Trials and the best configuration", address: { view: "validation", run: runId } }],
  again: ({ modelVersionId: _version, standing: _standing, fidelities: _shares, ...asked }) => asked,
};

/** Share of the space that was tried. */
export function describeTried({
  trials,
  candidates,
  spentMs,
  complete,
}: Pick<ResultOf<"optimisation">, "trials" | "candidates" | "spentMs" | "complete">): string {
  const cut = complete ? "" : "; the budget cut the search short";
  return `${trials.length} of ${candidates} configurations in ${formatDuration(spentMs)}${cut}`;
}

/** Rank of a trial among the others. */
export function describeStanding(
  { best, default: own, infeasible, pareto, trials }: ResultOf<"optimisation">,
  index: number,
): Judged {
  if (trials[index]?.outcome === "failed") return { tone: "bad", word: "failed" };
  const names = [
    index === best ? "best" : null,
    index === infeasible?.nearest ? "nearest" : null,
    index === own ? "default" : null,
    pareto.includes(index) ? "Pareto" : null,
  ].filter((name) => name !== null);
  const tone: Tone = index === best ? "good" : names.length > 0 ? "busy" : "quiet";
  return { tone, word: names.join(", ") || "tried" };
}

function describeTrial(trial: OptimisationTrial, standing: Judged, { number, measure, bytes }: Figures) {
  const { candidate, throughputPerS, latencyMs, memoryBytes, fidelity } = trial;
  return [
    `${nameCandidate(candidate)}, ${describeSettings(candidate)}`,
    standing,
    throughputPerS === null ? "–" : `${number(throughputPerS)}/s`,
    measure(latencyMs, "ms"),
    bytes(memoryBytes),
    fidelity === null ? "–" : formatShare(fidelity),
  ];
}

function times(factor: number | null, { number }: Figures): string {
  return factor === null ? "?" : `${number(factor)} ×`;
}
