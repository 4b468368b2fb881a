import type { JobSpec } from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { type Problem, PROBLEMS } from "../../protocol/wire/problem.ts";
import { judgesRunner } from "../kinds/registry.ts";

/** Runner faults that are excused: caused by the request, by the runner's departure, or by a quarantine in force. */
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
 * Whether a job's end counts against its runner. The problem must be the runner's fault, and the job must contain
 * nothing supplied by its sender, nor a time limit or pool that may be unsuitable. Otherwise a sender could lock
 * runners out for everyone.
 */
export function blamesRunner(spec: JobSpec, { code }: Problem): boolean {
  return PROBLEMS[code].fault === "runner" && !EXCUSED.has(code) && judgesRunner(spec);
}

/** Reason and end of a period in which a runner gets no work. */
export interface Quarantine {
  readonly untilMs: number;
  readonly reason: string;
}

/** Faults counted against a runner, and the resulting quarantine. */
export interface RunnerStanding {
  /** Times of lost connections within the window, oldest first. */
  readonly lostAtMs: readonly number[];
  /** Latest consecutive jobs that failed fast by the runner's fault, each listed once. */
  readonly failedJobIds: readonly string[];
  /** Quarantines so far that lengthen the next one. */
  readonly lockouts: number;
  readonly quarantine: (Quarantine & { readonly cause: "flapping" | "failing" }) | null;
}

export const GOOD_STANDING: RunnerStanding = { lostAtMs: [], failedJobIds: [], lockouts: 0, quarantine: null };

/** Quarantine in force; null where there is none. */
export function quarantineAt({ quarantine }: RunnerStanding, nowMs: number): Quarantine | null {
  if (quarantine === null || quarantine.untilMs <= nowMs) return null;
  return { untilMs: quarantine.untilMs, reason: quarantine.reason };
}

/** Notes a lost connection of a runner that did not leave on purpose. */
export function noteFlap(before: RunnerStanding, nowMs: number): RunnerStanding {
  const standing = forget(before, nowMs);
  const recent = standing.lostAtMs.filter((atMs) => atMs > nowMs - LIMITS.flapWindowMs);
  const lostAtMs = [...recent, nowMs].slice(-LIMITS.flapDisconnects);
  const reason = `It lost its connection ${lostAtMs.length} times within ${LIMITS.flapWindowMs / 1_000} s.`;
  return judge({ ...standing, lostAtMs }, "flapping", lostAtMs.length >= LIMITS.flapDisconnects, reason, nowMs);
}

/** Notes a job that failed by the runner's fault, with the time since it began there. */
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

/** Notes a success: earlier failures are forgiven, lost connections are not. */
export function noteSuccess(standing: RunnerStanding): RunnerStanding {
  if (standing.failedJobIds.length === 0 && standing.quarantine?.cause !== "failing") return standing;
  const isForgiven = standing.quarantine?.cause === "failing";
  return { ...standing, failedJobIds: [], ...(isForgiven && { lockouts: 0, quarantine: null }) };
}

/**
 * Quarantines the runner, longer each time. Faults during a quarantine are kept, so that the first one after it counts.
 */
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

/** Resets the standing when its last quarantine ended long ago. */
function forget(standing: RunnerStanding, nowMs: number): RunnerStanding {
  const endedMs = standing.quarantine?.untilMs ?? nowMs;
  return nowMs - endedMs > LIMITS.quarantineForgottenMs ? GOOD_STANDING : standing;
}
