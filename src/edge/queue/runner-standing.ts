import type { JobSpec } from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { type Problem, PROBLEMS } from "../../protocol/wire/problem.ts";
import { judgesRunner } from "../kinds/registry.ts";

/** Of a runner's faults those that come from what was asked of it, from leaving, or from a quarantine that holds already. */
const EXCUSED = new Set<Problem["code"]>([
  "runner-offline",
  "runner-lost",
  "lease-expired",
  "out-of-memory",
  "kernel-timeout",
  "kernel-quarantined",
  "model-quarantined",
]);

/**
 * Whether the end of a job speaks against its runner: by the problem's fault, and only of jobs that brought nothing of
 * their sender's, nor a time or a pool that may not do. Who sends such could otherwise lock runners out for everybody.
 */
export function blamesRunner(spec: JobSpec, { code }: Problem): boolean {
  return PROBLEMS[code].fault === "runner" && !EXCUSED.has(code) && judgesRunner(spec);
}

/** Why a runner is given nothing, and until when. */
export interface Quarantine {
  readonly untilMs: number;
  readonly reason: string;
}

/** What speaks against a runner, and the quarantine that came of it. */
export interface RunnerStanding {
  /** When it lost its connection, rising; only what is in the window. */
  readonly lostAtMs: readonly number[];
  /** Jobs in a row that failed fast by its fault, each once, the latest ones. */
  readonly failedJobIds: readonly string[];
  /** Quarantines so far that count for the length of the next one. */
  readonly lockouts: number;
  readonly quarantine: (Quarantine & { readonly cause: "flapping" | "failing" }) | null;
}

export const GOOD_STANDING: RunnerStanding = { lostAtMs: [], failedJobIds: [], lockouts: 0, quarantine: null };

/** The quarantine that holds now; null where there is none. */
export function quarantineAt({ quarantine }: RunnerStanding, nowMs: number): Quarantine | null {
  if (quarantine === null || quarantine.untilMs <= nowMs) return null;
  return { untilMs: quarantine.untilMs, reason: quarantine.reason };
}

/** The runner lost its connection, and not by leaving. */
export function noteFlap(before: RunnerStanding, nowMs: number): RunnerStanding {
  const standing = forget(before, nowMs);
  const recent = standing.lostAtMs.filter((atMs) => atMs > nowMs - LIMITS.flapWindowMs);
  const lostAtMs = [...recent, nowMs].slice(-LIMITS.flapDisconnects);
  const reason = `It lost its connection ${lostAtMs.length} times within ${LIMITS.flapWindowMs / 1_000} s.`;
  return judge({ ...standing, lostAtMs }, "flapping", lostAtMs.length >= LIMITS.flapDisconnects, reason, nowMs);
}

/** A job ended on the runner by a problem that is the runner's, so long after it began there. */
export function noteFailedJob(
  before: RunnerStanding,
  { jobId, ranMs, problem }: { jobId: string; ranMs: number; problem: Problem },
  nowMs: number,
): RunnerStanding {
  const standing = forget(before, nowMs);
  if (ranMs > LIMITS.fastFailureMs) return standing;
  const others = standing.failedJobIds.filter((id) => id !== jobId);
  const failedJobIds = [...others, jobId].slice(-LIMITS.fastFailures);
  const reason = `${failedJobIds.length} jobs in a row failed there at once, the last one by ${problem.code}.`;
  return judge({ ...standing, failedJobIds }, "failing", failedJobIds.length >= LIMITS.fastFailures, reason, nowMs);
}

/** A job came to a good end: what was held against the runner for failing is forgiven, flapping is not. */
export function noteSuccess(standing: RunnerStanding): RunnerStanding {
  if (standing.failedJobIds.length === 0 && standing.quarantine?.cause !== "failing") return standing;
  const isForgiven = standing.quarantine?.cause === "failing";
  return { ...standing, failedJobIds: [], ...(isForgiven && { lockouts: 0, quarantine: null }) };
}

/** Locks the runner out, longer each time; what goes on meanwhile is kept, so that the first fault after it counts. */
function judge(
  standing: RunnerStanding,
  cause: "flapping" | "failing",
  isTooMuch: boolean,
  reason: string,
  nowMs: number,
): RunnerStanding {
  if (!isTooMuch || quarantineAt(standing, nowMs) !== null) return standing;
  const { lockouts } = standing;
  const forMs = LIMITS.quarantineMs[Math.min(lockouts, LIMITS.quarantineMs.length - 1)] ?? 0;
  return { ...standing, lockouts: lockouts + 1, quarantine: { untilMs: nowMs + forMs, reason, cause } };
}

/** A quarantine that ended long ago counts for nothing. */
function forget(standing: RunnerStanding, nowMs: number): RunnerStanding {
  const endedMs = standing.quarantine?.untilMs ?? nowMs;
  return nowMs - endedMs > LIMITS.quarantineForgottenMs ? GOOD_STANDING : standing;
}
