import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { putTrace, recordRun, type RunInput, runIdOf } from "../store/history/run-store.ts";
import type { Published } from "./kind.ts";
import { kindOf } from "./registry.ts";

/** A stored result, and its effect on runners. */
export interface KeptResult {
  readonly resultText: string;
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
  const run =
    published === null ? given : { ...given, result: published.result, resultText: JSON.stringify(published.result) };
  return { resultText: await storeResult(env, run), published, configured: kind.configured?.(result) ?? null };
}

/**
 * Stores a run with its measurements and all other data of its kind. Idempotent. Gives the valid result as JSON: that of
 * an earlier attempt, if one is stored.
 */
export async function storeResult(env: ProjectEnv, given: RunInput): Promise<string> {
  const { resultText, ...run } = await recordRun(openProject(env), given);
  const { id: runId, spec, endedAtMs: atMs } = run;
  await kindOf(spec).store?.(env, run, { project: env.project, runId, atMs, label: spec.label ?? null });
  return resultText;
}
