import { type ProblemCode, ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { logOutcome } from "./outcome-log.ts";
import { currentSnapshot, findVersion } from "./snapshot.ts";

/** Mistakes of the caller: such a request was never one to answer. */
const MISTAKES = new Set<ProblemCode>(["invalid-request", "not-found", "payload-too-large"]);

/**
 * Counts a request that got no answer by its reason, after the reply. Where no runner was asked none has
 * an outbox for it, so each version has a link of its own name whose outbox holds its refusals.
 */
export async function logRefusal(
  env: ProjectEnv,
  model: string,
  code: ProblemCode,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<void> {
  if (MISTAKES.has(code)) return;
  const version = findVersion(await currentSnapshot(env, waitUntil), env.project, model);
  if (version === null) return;
  const about = { project: version.project, subject: `${version.model}@${version.version}` };
  logOutcome(env, `refusals/${version.id}`, { ...about, refusedFor: code }, waitUntil);
}

/** Does a request's work; the problem that ends it is counted. */
export async function countRefusal<Value>(
  env: ProjectEnv,
  model: string,
  waitUntil: (work: Promise<unknown>) => void,
  work: Promise<Value>,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProblemError) waitUntil(logRefusal(env, model, error.problem.code, waitUntil));
    throw error;
  }
}
