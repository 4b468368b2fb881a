import type { JobResult } from "../../protocol/jobs/job.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { putTrace, recordRun, type RunInput, runIdOf } from "../store/history/run-store.ts";
import type { Published, StoredRun } from "./kind.ts";
import { kindOf } from "./registry.ts";

/** A result as it is kept, and what follows from it on runners. */
export interface KeptResult {
  readonly result: JobResult;
  readonly published: Published | null;
  /** The version that is served otherwise on the job's runner from now on. */
  readonly configured: string | null;
}

/**
 * Puts a sound result where it is kept, behind its trace, if the job asked for one. A file that is to be served becomes a
 * version or a variant first. Doing it twice changes nothing.
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
 * Stores a run with its measurements and all else that its kind keeps. Doing it twice changes nothing. Gives the
 * result that counts: where an earlier attempt's is stored, that one.
 */
export async function storeResult(env: ProjectEnv, given: RunInput): Promise<JobResult> {
  const run: StoredRun & { readonly id: string } = await recordRun(openProject(env), given);
  const { id: runId, spec, result, endedAtMs: atMs } = run;
  await kindOf(spec).store?.(env, run, { project: env.project, runId, atMs, label: spec.label ?? null });
  return result;
}
