import type { Job } from "../protocol/job.ts";

/** Why a job did not succeed, with a link to what that means; nothing where it did or may. */
export function JobProblem({ problem }: Pick<Job, "problem">) {
  if (problem === null) return null;
  return (
    <small class="problem">
      <a href={problem.type}>{problem.title}</a>: {problem.detail}
    </small>
  );
}
