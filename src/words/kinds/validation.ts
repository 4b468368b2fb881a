import type { ServingConfiguration } from "../../protocol/fleet/serving.ts";
import type { Verdict } from "../../protocol/models/requirement.ts";
import type { ScenarioResult } from "../../protocol/models/scenario.ts";
import { formatShare, type Numbers } from "../numbers.ts";
import { nameSubject } from "../jobs.ts";
import { describeMargin, describeRange, formatMetric, OUTCOMES, PATHS, SCENARIOS } from "../validation.ts";
import { describeSubject, type Fact, type Figures, type KindWords, type ResultOf } from "./kind.ts";

export const validation: KindWords<"validation"> = {
  kind: "validation",
  name: ({ subject }) => nameSubject(subject),
  parts: ({ subject, scenarios }, figures) => [
    ...describeSubject(subject, figures),
    scenarios.map(({ kind }) => SCENARIOS[kind]).join(", "),
  ],
  wanted: ({ requirementSet, requirements }, { requirement }) =>
    requirementSet ?? (requirements.map(requirement).join(", ") || "nothing"),
  result: (result, figures) => {
    const { subject, place, scenarios, verdicts, verdict } = result;
    const { requirement } = figures;
    const [tone, word] = OUTCOMES[verdict];
    return {
      ...(verdicts.length > 0 && {
        table: {
          caption: "Requirements",
          columns: ["requirement", "outcome", "measured", "margin", "under"],
          rows: verdicts.map((each) => {
            const [shade, outcome] = OUTCOMES[each.outcome];
            return [
              requirement(each.requirement),
              { tone: shade, word: outcome },
              describeMeasured(each, figures),
              describeMargin(each),
              describeLoad(each),
            ];
          }),
        },
      }),
      facts: [
        ["subject", `${nameSubject(subject)} ${place.variant} on ${place.deviceKey} by ${place.backend}`],
        ...scenarios.flatMap((scenario) => describeScenario(scenario, figures)),
        ...describeServing(result, figures),
        ["verdict", verdicts.length === 0 ? "no requirements: nothing to judge" : { tone, word }],
      ],
    };
  },
  verdict: ({ verdict }) => verdict,
  links: ({ runId }) => [{ text: "Verdicts and scenarios", address: { view: "validation", run: runId } }],
  again: ({ requirementSet: _set, modelVersionId: _version, placementId: _place, fidelity: _share, ...asked }) => asked,
};

/** Details of the served model: settings, start, memory, file and fidelity. */
export function describeServing(
  { place: { configuration }, startup, memory, artifactBytes, fidelity }: ResultOf<"validation">,
  { measure, bytes }: Numbers,
): (readonly [string, string])[] {
  return [
    ...(configuration === null ? [] : [["configuration", describeConfiguration(configuration)] as const]),
    ["start-up", `${measure(startup.loadMs, "ms")} to load, ${measure(startup.firstAnswerMs, "ms")} to answer`],
    ["memory", `${bytes(memory.hostPeakBytes)} of the process, ${bytes(memory.gpuPeakBytes)} on the device`],
    ...(artifactBytes === null ? [] : [["artifact", bytes(artifactBytes)] as const]),
    ...(fidelity === null ? [] : [["fidelity", formatShare(fidelity)] as const]),
  ];
}

function describeConfiguration({ threads, maxRows, maxInFlight }: ServingConfiguration): string {
  return `threads ${threads}, rows ${maxRows ?? "as measured"}, in flight ${maxInFlight ?? "as the queue takes"}`;
}

function describeMeasured(verdict: Verdict, figures: Figures): string {
  const { requirement, measured } = verdict;
  if (measured === null) return "–";
  const range = describeRange(verdict, figures);
  return `${formatMetric(requirement.metric, measured, figures)}${range === null ? "" : ` (${range})`}`;
}

/** Under which load and by which way something was measured. */
export function describeLoad({ scenario, path }: Pick<Verdict, "scenario" | "path">): string {
  const parts = [scenario === null ? null : SCENARIOS[scenario], path === null ? null : PATHS[path]];
  return parts.filter((part) => part !== null).join(", ") || "of the whole run";
}

function describeScenario(result: ScenarioResult, figures: Figures): Fact[] {
  const { scenario, path, latencyMs, errors, queries, short } = result;
  const failed = errors === 0 ? "" : `, ${errors} of ${queries} failed`;
  const text = `${describeRate(result, figures)} ${PATHS[path]}${failed}${short ? ` (${SHORT})` : ""}`;
  const name = SCENARIOS[scenario.kind];
  return [
    [name, text],
    ...(latencyMs === null ? [] : [[name, { distribution: latencyMs, unit: "ms" }] satisfies Fact]),
  ];
}

/** Note on a scenario that MLPerf would run for longer. */
export const SHORT = "shorter than MLPerf's full length";

/** The highest rate of a server that keeps its bound; of the others what was answered. */
export function describeRate(
  { server, samplesPerS }: ScenarioResult,
  { number, measure }: Pick<Figures, "number" | "measure">,
): string {
  if (server === null) return `${number(samplesPerS)} samples/s`;
  const bound = `within ${measure(server.boundMs, "ms")}`;
  if (server.highestRatePerS === null) return `no rate that was tried ${bound}`;
  return `${number(server.highestRatePerS)} queries/s ${bound}`;
}
