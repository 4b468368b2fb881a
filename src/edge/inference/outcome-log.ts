import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { type Env, runnerLink } from "../config.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import { currentSnapshot, findVersion, type ProjectCall } from "./snapshot.ts";

/** Each hand-over is a write to the object's disk, and requests to its runner wait behind that. */
const FLUSH_AFTER_MS = 1_000;
/** A flush that did not happen by now was cut off with its request; the next request takes over. */
const OVERDUE_MS = 5_000;

type Outcome = RequestOutcome | RefusedRequest;

interface Batch {
  readonly outcomes: Outcome[];
  readonly sinceMs: number;
}

/** Outcomes that this isolate has not handed on yet, by the link that keeps them. */
const waiting = new Map<string, Batch>();

/**
 * Hands an outcome to a link's outbox after the reply, together with others of the same moment: to the
 * runner's, or to one without a runner where none was asked. Where that object is restarted or moved meanwhile,
 * the batch is lost: whether it was kept nobody knows then, and counted twice would be wrong, too.
 */
export function logOutcome({ env, waitUntil }: ProjectCall, linkName: string, outcome: Outcome): void {
  const nowMs = Date.now();
  const batch = waiting.get(linkName);
  batch?.outcomes.push(outcome);
  if (batch !== undefined && nowMs - batch.sinceMs < OVERDUE_MS) return;
  waiting.set(linkName, { outcomes: batch?.outcomes ?? [outcome], sinceMs: nowMs });
  waitUntil(flushLater(env, linkName));
}

async function flushLater(env: Env, linkName: string): Promise<void> {
  await scheduler.wait(FLUSH_AFTER_MS);
  const batch = waiting.get(linkName);
  waiting.delete(linkName);
  if (batch !== undefined) await runnerLink(env, linkName).record(batch.outcomes);
}

/** Mistakes of the caller: such a request was never one to answer. */
const MISTAKES = new Set<ProblemCode>(["invalid-request", "not-found", "payload-too-large"]);

/**
 * Counts a request that got no answer by its reason, after the reply. Where no runner was asked none has
 * an outbox for it, so each version has a link of its own name whose outbox holds its refusals.
 */
export async function logRefusal(call: ProjectCall, model: string, code: ProblemCode): Promise<void> {
  if (MISTAKES.has(code)) return;
  const version = findVersion(await currentSnapshot(call), call.env.project, model);
  if (version === null) return;
  const about = { project: version.project, subject: `${version.model}@${version.version}` };
  logOutcome(call, `refusals/${version.id}`, { ...about, refusedFor: code });
}

/** Does a request's work; the problem that ends it is counted. */
export async function countRefusal<Value>(call: ProjectCall, model: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProblemError) call.waitUntil(logRefusal(call, model, error.problem.code));
    throw error;
  }
}
