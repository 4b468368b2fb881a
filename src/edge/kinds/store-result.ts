import type { JobResult } from "../../protocol/jobs/job.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { putTrace, recordRun, type RunInput, runIdOf } from "../store/history/run-store.ts";
import type { Published, StoredRun } from "./kind.ts";
import { kindOf } from "./registry.ts";

/** A stored result, and its effect on runners. */
export interface KeptResult {
  readonly result: JobResult;
  readonly published: Published | null;
  /** Version whose serving configuration on the job's runner has changed. */
  readonly configured: string | null;
}

/**
 * Stores a sound result, after its trace if the job asked for one. A file that is to be served becomes a version or a
 * variant first. Idempotent.
 */
export async function keepResult(env: ProjectEnv, given: RunInput, trace: string | undefined): Promise<KeptResult> {
  const { spec, result, jobId, attempt } = given;
  const kind = kindOf(spec);
  const isTraced = kind.isTraced?.(spec) ?? false;
  if (isTraced && trace !== undefined) await putTrace(env.ARTIFACTS, { id: runIdOf(jobId), attempt }, trace);
  const published = (await kind.publish?.(env, given, result)) ?? null;
  const stored = await storeResult(env, { ...given, result: published?.result ?? result });
  return { result: stored, published, configured: kind.configured?.(result) ?? null };
}

/**
 * Stores a run with its measurements and all other data of its kind. Idempotent. Gives the valid result: that of an
 * earlier attempt, if one is stored.
 */
export async function storeResult(env: ProjectEnv, given: RunInput): Promise<JobResult> {
  const run: StoredRun & { readonly id: string } = await recordRun(openProject(env), given);
  const { id: runId, spec, result, endedAtMs: atMs } = run;
  await kindOf(spec).store?.(env, run, { project: env.project, runId, atMs, label: spec.label ?? null });
  return result;
}
