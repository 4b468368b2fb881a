import type { EvaluationResult } from "../../protocol/evaluation.ts";
import { EPISODE_BYTES, EPISODES_OFFSET } from "../../protocol/episodes-file.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { getArtifactRange } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { findJobArtifact } from "../store/job-artifact-store.ts";
import { findRun } from "../store/run-store.ts";

/** An evaluation's run. */
export interface EvaluationRun {
  readonly id: string;
  readonly jobId: string;
  readonly seed: number;
  readonly result: EvaluationResult;
}

/** Throws `not-found` where it is no run of an evaluation; `pointer` is what named it. */
export async function findEvaluation(env: ProjectEnv, id: string, pointer = "path/id"): Promise<EvaluationRun> {
  const run = await findRun(openProject(env), id);
  if (run?.result.kind === "evaluation") return { id, jobId: run.jobId, seed: run.result.seed, result: run.result };
  throw new ProblemError("not-found", `There is no run ${id} of an evaluation.`, {
    errors: [{ pointer, message: "is not a run of an evaluation" }],
  });
}

/**
 * Records from one place of an evaluation's file to before another. Throws `not-found` where the file is gone, or is not
 * the one that the job left: a result alone could name anybody's.
 */
export async function readRecords(
  env: ProjectEnv,
  { id, jobId, result }: EvaluationRun,
  from: number,
  to: number,
): Promise<DataView> {
  const range = { offset: EPISODES_OFFSET + EPISODE_BYTES * from, length: EPISODE_BYTES * (to - from) };
  const file = await findJobArtifact(openProject(env), jobId, "episodes");
  const isIts = file !== null && file.digest === result.artifact?.digest;
  const object = isIts ? await getArtifactRange(env.ARTIFACTS, file.digest, range) : null;
  if (object === null) throw new ProblemError("not-found", `The episodes of the run ${id} are not kept any more.`);
  return new DataView(await object.arrayBuffer());
}

/** The place in the file where each entrant's episodes begin, and behind the last of them. */
export function entrantStarts({ entrants, episodes }: EvaluationResult): number[] {
  const starts = [0];
  for (const { members } of entrants) starts.push(starts.at(-1)! + members * episodes);
  return starts;
}
