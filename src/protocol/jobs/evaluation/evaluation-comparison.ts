import { z } from "zod";
import { ID_PREFIXES, idSchema } from "../../wire/id.ts";
import { LIMITS } from "../../wire/limits.ts";
import { Name } from "../../wire/page.ts";
import { Estimate } from "../../wire/distribution.ts";

const SIDE = new RegExp(`^${ID_PREFIXES.run}_[0-9a-z]{26}(:\\d{1,7}){0,2}$`);

/** Members of one entrant of a run, or one of them. */
export interface NamedSide {
  readonly runId: string;
  readonly entrant: number | null;
  readonly member: number | null;
}

const Side = z
  .string()
  .max(2_048)
  .transform((text) => text.split(","))
  .refine(
    (parts) => parts.length <= LIMITS.comparedTasks && parts.every((part) => SIDE.test(part)),
    `must be at most ${LIMITS.comparedTasks} runs like run_…, run_…:entrant or run_…:entrant:member, with commas between`,
  )
  .transform((parts) => parts.map(toSide))
  .meta({
    type: "string",
    description:
      "Runs of evaluations: `run_…`, of several entrants `run_…:0`, one member `run_…:0:17`; one for each task",
  });

function toSide(part: string): NamedSide {
  const [runId = "", entrant, member] = part.split(":");
  const toPlace = (text: string | undefined) => (text === undefined ? null : Number(text));
  return { runId, entrant: toPlace(entrant), member: toPlace(member) };
}

export const EvaluationComparisonQuery = z.strictObject({ a: Side, b: Side });

const ComparedSide = z.object({
  runId: idSchema("run"),
  entrant: z.number().int(),
  name: z.string(),
  member: z.number().int().nullable(),
  members: z.number().int().meta({ description: "Those that did not fail" }),
  episodes: z.number().int(),
  seed: z.number().int(),
  meanReturn: z.number(),
});

/** Scores of a side over all tasks, in normalised returns. */
const SideScores = z.object({ mean: Estimate, iqm: Estimate, median: Estimate, optimalityGap: Estimate });

export const EvaluationComparison = z
  .object({
    tasks: z.array(
      z.object({
        task: Name,
        a: ComparedSide,
        b: ComparedSide,
        paired: z.boolean(),
        unpairedBecause: z.string().nullable().meta({ description: "Null where the episodes are paired" }),
        returnDifference: Estimate.meta({ description: "Mean return of b less that of a" }),
      }),
    ),
    difference: Estimate.meta({ description: "Of mean normalised returns, b less a, averaged over the tasks" }),
    probabilityOfImprovement: Estimate.meta({
      description: "That an episode of b has a higher return than one of a, ties half, averaged over the tasks",
    }),
    a: SideScores,
    b: SideScores,
    resamples: z.number().int(),
    seed: z.number().int(),
  })
  .meta({ id: "EvaluationComparison" });
export type EvaluationComparison = z.infer<typeof EvaluationComparison>;
