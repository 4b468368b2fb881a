import type { Job } from "../../protocol/job.ts";
import { createProblem, ProblemError, reviveProblem } from "../../protocol/problem.ts";
import { renderResult } from "../results/render-result.ts";
import type { Shell } from "../shell.ts";
import { INTERRUPTED } from "./follow-job.ts";
import { verdictCode } from "./verdict-code.ts";

/** Prints what a job came to, and gives the exit code. Throws the problem of one that failed or was cancelled. */
export function concludeJob(job: Job | null, shell: Shell, json: boolean): number {
  if (job === null) return INTERRUPTED;
  if (job.state === "cancelled") throw new ProblemError("cancelled", `${job.id} was cancelled.`);
  if (job.state === "failed") {
    const problem = job.problem ?? createProblem("internal", "It left no reason.");
    throw reviveProblem({ ...problem, detail: `${job.id} failed: ${problem.detail}` });
  }
  shell.print(json ? `${JSON.stringify(job)}\n` : renderResult(job, shell));
  return verdictCode(job);
}
