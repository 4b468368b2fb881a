import type { Runner } from "../protocol/fleet/runner.ts";
import type { JobSubject } from "../protocol/jobs/job-fields.ts";
import type { JobSpec, JobState, JobSummary } from "../protocol/jobs/job.ts";
import type { Model } from "../protocol/models/model.ts";
import { describeSizes, formatDuration } from "./numbers.ts";
import type { Tone } from "./tone.ts";

/** Names by id, of what jobs tell by id alone: versions of models, and runners. */
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

/** What is validated or optimised, by its name. */
export function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : subject.kernel;
}

/** How a badge shows each state. */
export const JOB_STATES: Record<JobState, readonly [Tone, string]> = {
  queued: ["quiet", "queued"],
  leased: ["busy", "running"],
  succeeded: ["good", "succeeded"],
  failed: ["bad", "failed"],
  cancelled: ["warn", "cancelled"],
};

/** What a job is about: a kernel, a model, an environment. Versions of models are named where their names are known. */
export function nameSpec(spec: JobSpec, modelNames: ReadonlyMap<string, string>): string {
  if (spec.kind === "calibration") return modelNames.get(spec.modelVersionId) ?? spec.modelVersionId;
  if (spec.kind === "probe") return spec.deviceKey ?? "a device";
  if (spec.kind === "evaluation" || spec.kind === "training") return spec.environment;
  if (spec.kind === "evolution") return spec.pool.name;
  if (spec.kind === "consensus") return spec.pool?.name ?? "votes";
  if (spec.kind === "compression") return `${spec.model}@${spec.version}`;
  if (!("subject" in spec)) return spec.kernel;
  return nameSubject(spec.subject);
}

/** How it is asked to go about it, in few words. */
export function describeSpec(spec: JobSpec): string {
  const parts = [describeEffort(spec), spec.label];
  if (spec.kind === "benchmark" || spec.kind === "throughput") parts.unshift(spec.variant);
  if (spec.kind === "benchmark" && spec.axes !== undefined) parts.splice(1, 0, describeSizes(spec.axes));
  const kernel = "shape" in spec ? spec : "subject" in spec && spec.subject.kind === "kernel" ? spec.subject : null;
  if (kernel !== null) parts.unshift(describeSizes(kernel.shape) || "default sizes", kernel.dtype);
  return parts.filter(Boolean).join(" · ");
}

function describeEffort(spec: JobSpec): string {
  if (spec.kind === "validation") return spec.scenarios.map(({ kind }) => kind).join(", ");
  if (spec.kind === "probe") return "claims";
  if (spec.kind === "tuning" || spec.kind === "optimisation") return `${formatDuration(spec.budgetMs)} budget`;
  if (spec.kind === "throughput") return `${Math.round(100 * spec.targetBusyShare)} % busy, ${spec.mode}`;
  if (spec.kind === "evaluation") return `${countMembers(spec.entrants)}, ${spec.episodes} episodes each`;
  if (spec.kind === "training") return `${spec.generations} generations`;
  if (spec.kind === "evolution") return `generation ${spec.pool.generation + 1}`;
  if (spec.kind === "consensus") return `${spec.options} options`;
  if (spec.kind === "compression") return spec.name;
  return `${spec.iterations} iterations`;
}

function countMembers(entrants: Extract<JobSpec, { kind: "evaluation" }>["entrants"]): string {
  const [only] = entrants;
  if (entrants.length === 1 && only?.members === 1) return only.name;
  const members = entrants.reduce((sum, entrant) => sum + entrant.members, 0);
  return `${members} policies`;
}

/** How long it has worked, until now where it still does. */
export function describeDuration(
  { startedAt, endedAt }: Pick<JobSummary, "startedAt" | "endedAt">,
  now: number,
): string {
  if (startedAt === null) return "–";
  return formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}
