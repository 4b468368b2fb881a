import type { Job } from "../../protocol/job.ts";

const VALIDATED = { pass: 0, fail: 1, insufficient: 3 } as const;

/**
 * What a command ends with whose job ended well: 1 where its verdict is no (a requirement missed, no configuration
 * within the targets, a claim that is not true, `stopAt` not reached), 3 where the evidence does not suffice, else 0.
 */
export function verdictCode({ spec, result }: Pick<Job, "spec" | "result">): 0 | 1 | 3 {
  if (result?.kind === "validation") return VALIDATED[result.verdict];
  if (result?.kind === "optimisation") return result.best === null ? 1 : 0;
  if (result?.kind === "probe") return result.ok ? 0 : 1;
  if (result?.kind !== "training" || spec.kind !== "training" || spec.stopAt === undefined) return 0;
  return result.solvedAtGeneration === null ? 1 : 0;
}
