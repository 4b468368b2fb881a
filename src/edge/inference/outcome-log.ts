import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { elapsedMs } from "../clock.ts";
import { type Env, runnerLink } from "../config.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import { currentSnapshot, findVersion, type ProjectCall } from "./snapshot.ts";

/** Each hand-over writes to the object's disk, and requests to its runner wait for the write. */
const FLUSH_AFTER_MS = 1_000;
/** A flush that did not happen by then was cut off with its request; the next request takes over. */
const OVERDUE_MS = 5_000;

type Outcome = RequestOutcome | RefusedRequest;

interface Batch {
  readonly outcomes: Outcome[];
  readonly sinceMs: number;
}

/** Outcomes that this isolate has not handed over yet, by the link that keeps them. */
const waiting = new Map<string, Batch>();

/**
 * Hands an outcome to the outbox of its runner's link after the reply, in a batch with others; without a runner, to a
 * link of its own.
 * A restarted or moved object loses the batch: it may have been kept, and to count it twice would be wrong, too.
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
  await handOver(env, linkName);
}

/** Start of the hand-over under way, by link: another request cannot wait for its promise, but look at this. */
const handingOver = new Map<string, number>();

async function handOver(env: Env, linkName: string): Promise<void> {
  const batch = waiting.get(linkName);
  if (batch === undefined) return;
  waiting.delete(linkName);
  handingOver.set(linkName, Date.now());
  try {
    await runnerLink(env, linkName).record(batch.outcomes);
  } finally {
    handingOver.delete(linkName);
  }
}

/** Time for which a reader waits for another request's hand-over, and the interval of its looks. */
const SETTLED_WITHIN_MS = 100;
const LOOK_MS = 5;

async function untilHandedOver(linkName: string): Promise<void> {
  for (;;) {
    const sinceMs = handingOver.get(linkName);
    if (sinceMs === undefined || elapsedMs(sinceMs) >= SETTLED_WITHIN_MS) return;
    await scheduler.wait(LOOK_MS);
  }
}

/**
 * Moves the outcomes of these links to the history now: those of this isolate, and those that the links hold. Outcomes
 * of other isolates follow within the time for which each holds them. A link that fails keeps its own for later.
 */
export async function settleOutcomes(env: Env, linkNames: readonly string[]): Promise<void> {
  await Promise.allSettled(
    linkNames.map(async (linkName) => {
      await untilHandedOver(linkName);
      await handOver(env, linkName);
      await runnerLink(env, linkName).flush();
    }),
  );
}

/** Forgets what was not handed over, as a new isolate would. */
export function forgetOutcomes(): void {
  waiting.clear();
  refusing.clear();
}

const KEPT_REFUSING = 10_000;
/** Links that this isolate gave refusals to: asking another one would create its object for nothing. */
const refusing = new Set<string>();

/** The link that keeps a version's refusals; null where this isolate refused no request for it. */
export function refusalLinkOf(versionId: string): string | null {
  const linkName = nameRefusalLink(versionId);
  return refusing.has(linkName) ? linkName : null;
}

function nameRefusalLink(versionId: string): string {
  return `refusals/${versionId}`;
}

/** Ends of the caller's own making, which do not count as refusals. */
const MISTAKES = new Set<ProblemCode>(["invalid-request", "not-found", "payload-too-large", "cancelled"]);

/**
 * Counts a request without an answer by its reason, after the reply.
 * A refusal without a runner has no outbox, so each version has a link of its own name for them.
 */
export async function logRefusal(call: ProjectCall, model: string, code: ProblemCode): Promise<void> {
  if (MISTAKES.has(code)) return;
  const version = findVersion(await currentSnapshot(call), model);
  if (version === null) return;
  const about = { project: version.project, subject: `${version.model}@${version.version}` };
  const linkName = nameRefusalLink(version.id);
  if (refusing.size >= KEPT_REFUSING) refusing.clear();
  refusing.add(linkName);
  logOutcome(call, linkName, { ...about, refusedFor: code });
}

/** Runs a request's work and counts the problem that ends it. */
export async function countRefusal<Value>(
  call: ProjectCall,
  model: string,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProblemError) {
      // Without a snapshot nobody knows which model it was.
      call.waitUntil(logRefusal(call, model, error.problem.code).catch(() => undefined));
    }
    throw error;
  }
}
