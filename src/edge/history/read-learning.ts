import { ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import type { Learning } from "../plots/learning-plot.ts";
import { openProject } from "../store/database.ts";
import { findRun, runIdOf } from "../store/run-store.ts";
import { jobQueue } from "../stubs.ts";

/**
 * How a training goes or went: by its run once it has ended, by what it told until then. Throws `not-found` where there
 * is no such job, or it is no training.
 */
export async function readLearning(env: ProjectEnv, jobId: string): Promise<Learning> {
  const queue = jobQueue(env);
  const found = (await findRun(openProject(env), runIdOf(jobId))) ?? (await queue.get(env.project, jobId));
  if (found === null) throw new ProblemError("not-found", `There is no job ${jobId}.`);
  const { spec, result } = found;
  if (spec.kind !== "training") {
    throw new ProblemError(
      "not-found",
      `The job ${jobId} has no learning curve: it is a ${spec.kind}, not a training.`,
    );
  }
  if (result?.kind === "training") return { spec, curve: result.curve, result };
  return { spec, curve: await queue.readCurve(env.project, jobId), result: null };
}
