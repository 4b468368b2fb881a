import type { Job, JobSpec } from "../../protocol/jobs/job.ts";
import { formatAge, formatSizes } from "../render/format-values.ts";
import { renderFacts } from "../render/render-table.ts";
import { nameSubject } from "./results/render-validation.ts";
import { type Canvas, renderResult } from "./results/render-result.ts";

/** A job for people: how far it is, or what it came to. */
export function renderJob(job: Job, canvas: Canvas): string {
  const { id, state, spec, attempt, maxAttempts, runnerId, progress, problem, createdAt } = job;
  const facts = renderFacts([
    ["job", `${id}: ${spec.kind} of ${describeSubject(spec)}`],
    [
      "state",
      `${state === "leased" ? "running" : state}, attempt ${attempt} of ${maxAttempts}, queued ${formatAge(createdAt)}`,
    ],
    ...(runnerId === null ? [] : [["runner", runnerId] as const]),
    ...(progress === null || state !== "leased"
      ? []
      : [["progress", `${progress.phase} ${progress.done}/${progress.total}`] as const]),
    ...(problem === null ? [] : [["problem", `${problem.code}: ${problem.detail}`] as const]),
  ]);
  return job.result === null ? facts : `${facts}${renderResult(job, canvas)}`;
}

/** What a job is about, in a few words. */
export function describeSubject(spec: JobSpec): string {
  switch (spec.kind) {
    case "benchmark":
    case "throughput":
    case "tuning":
      return `${spec.kernel} ${formatSizes(spec.shape)}`.trim();
    case "validation":
    case "optimisation":
      return nameSubject(spec.subject);
    case "evaluation":
      return `${spec.entrants.map(({ name }) => name).join(", ")} in ${spec.environment}`;
    case "training":
      return `${spec.environment} by ${spec.algorithm.name}`;
    case "calibration":
      return spec.modelVersionId;
    case "compression":
      return `${spec.model} by ${spec.recipe.method}`;
    case "probe":
    case "evolution":
    case "consensus":
      return spec.runnerId ?? "–";
  }
}
