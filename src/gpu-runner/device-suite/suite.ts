import type { Check, Part, SuiteContext } from "./check.ts";
import { explain, skipCheck } from "./run-check.ts";

/** A part of the suite, loaded when its turn comes: one that cannot be loaded takes no other with it. */
export interface SuitePart {
  readonly name: string;
  /** Weight of its time beside the other parts'; what it leaves is theirs. */
  readonly share: number;
  readonly load: () => Promise<Part>;
}

/** All parts, in the order in which they run. */
export const PARTS: readonly SuitePart[] = [
  { name: "kernels", share: 110, load: async () => (await import("./kernels.ts")).checkKernels },
  { name: "networks", share: 90, load: async () => (await import("./networks.ts")).checkNetworks },
  { name: "environments", share: 60, load: async () => (await import("./environments.ts")).checkEnvironments },
  { name: "speed", share: 130, load: async () => (await import("./speed.ts")).createSpeedPart() },
  { name: "rollouts", share: 40, load: async () => (await import("./rollouts.ts")).createRolloutPart() },
  { name: "in-flight", share: 40, load: async () => (await import("./in-flight.ts")).createInFlightPart() },
  { name: "torch", share: 100, load: async () => (await import("./torch.ts")).createTorchPart() },
  { name: "recovery", share: 60, load: async () => (await import("./recovery.ts")).recovery },
];

/** Name of the check that stands for those which a part did not reach. */
export const REST = "the rest";
/** Reasons of checks that were not reached, which a resumed suite makes. */
const UNREACHED = { limit: "time limit", stopped: "stopped" } as const;
/** Time that a part has to end by itself after its limit. */
const GRACE_MS = 5_000;

export interface SuiteOptions {
  /** Time for all parts together. */
  readonly limitMs: number;
  /** Checks of an earlier run. Those that passed, or cannot be made here, stay; each other one until it is made again. */
  readonly earlier?: readonly Check[];
  /** Whether a check is wanted; all are where absent. */
  readonly wants?: (part: string, name: string) => boolean;
  /** Keeps the report, called with all checks after each one. */
  readonly keep: (checks: readonly Check[]) => Promise<void>;
  /** Ends the suite early. */
  readonly signal: AbortSignal;
  readonly graceMs?: number;
}

/**
 * Runs parts in turn, each within its share of the time that is left, and returns all checks, those of the earlier run
 * included. A part that fails, hangs or takes too long ends alone; what it did not reach is a skipped check.
 */
export async function runSuite(
  parts: readonly SuitePart[],
  context: Omit<SuiteContext, "signal" | "done">,
  { limitMs, earlier = [], wants = () => true, keep, signal, graceMs = GRACE_MS }: SuiteOptions,
): Promise<readonly Check[]> {
  const endMs = performance.now() + limitMs;
  const checks = new Map(earlier.map((check) => [keyOf(check), check]));
  for (const [index, part] of parts.entries()) {
    const shares = parts.slice(index).reduce((sum, { share }) => sum + share, 0);
    const partMs = ((endMs - performance.now()) * part.share) / shares;
    const find = (name: string) => checks.get(keyOf({ part: part.name, name }));
    const done = (name: string) => !wants(part.name, name) || isSettled(find(name));
    context.say(`${part.name}: at most ${Math.max(0, Math.round(partMs / 1e3))} s`);
    let isWhole = wants(part.name, REST);
    for await (const check of runPart(part, { ...context, done }, { partMs, signal, graceMs })) {
      if (check.name === REST) isWhole = false;
      // A failure stays until its check is made again.
      if (!isUnreached(check) || find(check.name)?.outcome !== "failed") checks.set(keyOf(check), check);
      context.say(describeCheck(check));
      await keep([...checks.values()]);
    }
    if (isWhole) checks.delete(keyOf({ part: part.name, name: REST }));
  }
  return [...checks.values()];
}

function keyOf({ part, name }: Pick<Check, "part" | "name">): string {
  return `${part}/${name}`;
}

/** Whether a check need not be made again. */
function isSettled(check: Check | undefined): boolean {
  return check !== undefined && check.outcome !== "failed" && !isUnreached(check);
}

/** Whether a check stands for those that were not reached. */
function isUnreached({ outcome, reason }: Check): boolean {
  return outcome === "skipped" && (reason === UNREACHED.limit || reason === UNREACHED.stopped);
}

interface PartLimits {
  readonly partMs: number;
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

async function* runPart(
  part: SuitePart,
  context: Omit<SuiteContext, "signal">,
  { partMs, signal: stopping, graceMs }: PartLimits,
): AsyncGenerator<Check> {
  // A timer of its own: that of AbortSignal.timeout does not keep the process alive.
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), Math.max(0, partMs));
  if (partMs <= 0) limit.abort();
  const signal = AbortSignal.any([limit.signal, stopping]);
  const startedMs = performance.now();
  let checks: AsyncGenerator<Check> | null = null;
  try {
    if (!signal.aborted) {
      checks = (await part.load())({ ...context, signal });
      if (yield* takeChecks(checks, signal, graceMs)) return;
    }
    yield skipCheck(part.name, REST, stopping.aborted ? UNREACHED.stopped : UNREACHED.limit);
  } catch (error) {
    const durationMs = performance.now() - startedMs;
    yield { part: part.name, name: REST, outcome: "failed", reason: explain(error), durationMs };
  } finally {
    clearTimeout(timer);
    limit.abort();
    if (checks !== null) await withinGrace(checks.return(undefined), signal, graceMs).catch(() => null);
  }
}

/** Passes checks on until the signal; returns whether these were all. */
async function* takeChecks(
  checks: AsyncGenerator<Check>,
  signal: AbortSignal,
  graceMs: number,
): AsyncGenerator<Check, boolean> {
  while (!signal.aborted) {
    const next = await withinGrace(checks.next(), signal, graceMs);
    if (next?.done === true) return true;
    // A check that ended with the time says nothing about the device.
    if (next !== null && (!signal.aborted || next.value.outcome === "passed")) yield next.value;
  }
  return false;
}

/** The outcome of some work; null where it has not ended this long after the signal. */
async function withinGrace<Value>(work: Promise<Value>, signal: AbortSignal, graceMs: number): Promise<Value | null> {
  const given = Promise.withResolvers<null>();
  let timer: NodeJS.Timeout | undefined;
  const wait = () => (timer = setTimeout(() => given.resolve(null), graceMs));
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, given.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", wait);
  }
}

function describeCheck({ part, name, outcome, reason, durationMs }: Check): string {
  const why = reason === undefined ? "" : `: ${reason.split("\n")[0]}`;
  return `${outcome} ${part}/${name} (${Math.round(durationMs)} ms)${why}`;
}
