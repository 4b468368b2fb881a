import type { Runner } from "../protocol/fleet/runner.ts";
import type { JobSubject } from "../protocol/jobs/job-fields.ts";
import type { JobEvent, JobProgress, JobState, JobSummary } from "../protocol/jobs/job.ts";
import type { Model } from "../protocol/models/model.ts";
import { formatDuration, type Numbers, PAGE_NUMBERS } from "./numbers.ts";
import type { Tone } from "./tone.ts";

/** Names by id, for jobs that refer to models' versions and to runners by id alone. */
export interface JobNames {
  readonly models: ReadonlyMap<string, string>;
  readonly runners: ReadonlyMap<string, string>;
}

/** The names of what is known so far. */
export function listJobNames(models: readonly Model[], runners: readonly Runner[]): JobNames {
  return {
    models: new Map(
      models.flatMap(({ name, versions }) => versions.map(({ id, version }) => [id, `${name}@${version}`] as const)),
    ),
    runners: new Map(runners.map(({ id, name }) => [id, name])),
  };
}

/** Before any names are read. */
export const NO_NAMES: JobNames = listJobNames([], []);

/** The model or kernel that is validated or optimised. */
export function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : subject.kernel;
}

/** Badge of each job state. */
export const JOB_STATES: Record<JobState, readonly [Tone, string]> = {
  queued: ["quiet", "queued"],
  leased: ["busy", "running"],
  succeeded: ["good", "succeeded"],
  failed: ["bad", "failed"],
  cancelled: ["warn", "cancelled"],
};

/** Working time of a job: until its end, or until now while it still works. */
export function describeDuration(
  { startedAt, endedAt }: Pick<JobSummary, "startedAt" | "endedAt">,
  now: number,
): string {
  if (startedAt === null) return "–";
  return formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}

/** Progress of a job: `measure 8/15, 3 candidates left`. */
export function describeProgress(progress: JobProgress, numbers: Numbers = PAGE_NUMBERS): string {
  const { phase, done, total } = progress;
  return [total > 0 ? `${phase} ${done}/${total}` : phase, ...describeFindings(progress, numbers)].join(", ");
}

/** Findings of the job so far, beside its progress. */
export function describeFindings({ candidatesLeft, best, point }: JobProgress, { number }: Numbers): string[] {
  return [
    ...(candidatesLeft === undefined ? [] : [`${candidatesLeft} candidates left`]),
    ...(best === undefined ? [] : [`best ${number(best.throughputPerS)}/s at ${number(best.latencyMs)} ms`]),
    ...(point === undefined ? [] : [`best ${number(point.best)}, mean ${number(point.mean)}`]),
    ...(point === undefined || point.fresh === null ? [] : [`${number(point.fresh)} on fresh episodes`]),
  ];
}

const EVENTS: Record<JobEvent["type"], string> = {
  queued: "queued",
  leased: "taken by a runner",
  progress: "progress",
  requeued: "queued again",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** An event of a job, with its reason where it has one. */
export function describeEvent({ type, progress, detail }: JobEvent): string {
  const said = progress === null ? EVENTS[type] : describeProgress(progress);
  return detail === null || detail === "" ? said : `${said}: ${detail}`;
}
