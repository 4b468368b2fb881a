import type { Command } from "commander";
import { randomUUID } from "node:crypto";
import type { Sendable } from "../../client/call-options.ts";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Job, JobInput } from "../../protocol/jobs/job.ts";
import { createProblem, ProblemError, reviveProblem } from "../../protocol/wire/problem.ts";
import { addEdge, type EdgeOptions } from "../options/edge-options.ts";
import { findRunnerId } from "../runner/find-runner.ts";
import type { Shell } from "../shell/shell.ts";
import { verdictOf } from "../../words/kinds/registry.ts";
import { renderResult } from "./render-job.ts";
import { INTERRUPTED, watchJob } from "./watch-job.ts";

const CODES = { pass: 0, fail: 1, insufficient: 3 } as const;

/**
 * Exit code after a job that ended well: 1 for a negative verdict (a requirement missed, no configuration within the
 * targets, a false claim, `stopAt` not reached), 3 for insufficient evidence, else 0.
 */
export function verdictCode(job: Pick<Job, "spec" | "result">): 0 | 1 | 3 {
  return CODES[verdictOf(job)];
}

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

/** Options of a job: its runner, the label of its series, and whether the command waits. */
export interface JobOptions extends EdgeOptions {
  readonly runner?: string;
  readonly label?: string;
  readonly detach: boolean;
}

/** Adds them, and those of the edge. */
export function addJob(command: Command): Command {
  return addEdge(command, "scopes submit and read")
    .option("--runner <name>", "name or id of the runner that shall take it (default: any that can)")
    .option("--label <label>", "stored with the series, such as a branch")
    .option("--detach", "print the job's id at once, and do not wait", false);
}

/** The fields of a job that they stand for. */
export async function targetOf(
  client: Client,
  { runner, label }: JobOptions,
): Promise<{ readonly runnerId?: string; readonly label?: string }> {
  return {
    ...(runner !== undefined && { runnerId: await findRunnerId(client, runner) }),
    ...(label !== undefined && { label }),
  };
}

/** Queues a job, follows it and prints its result, or its id alone where it shall not be waited for. The exit code. */
export async function submitJob(
  client: Client,
  body: Sendable<JobInput>,
  { json, detach }: Pick<JobOptions, "json" | "detach">,
  shell: Shell,
): Promise<number> {
  const job = await client.call(endpoints.createJob, { body, headers: { "idempotency-key": randomUUID() } });
  if (detach) {
    shell.print(json ? `${JSON.stringify(job)}\n` : `${job.id}\n`);
    return 0;
  }
  return concludeJob(await watchJob(client, job.id, shell, { json }), shell, json);
}
