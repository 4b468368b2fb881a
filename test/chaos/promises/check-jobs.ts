import { isDeepStrictEqual } from "node:util";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { type Job, JobEvent, type JobSummary } from "../../../src/protocol/jobs/job.ts";
import type { Client } from "../../../src/client/client.ts";
import { listAll } from "../../../src/client/list-all.ts";
import type { Ledger } from "./ledger.ts";

const ENDS: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/**
 * Checks that every accepted job exists once, and waits or has ended exactly once; its events and attempts never
 * decrease. A succeeded job has the one run that its result names, with one point in each of its series.
 */
export async function checkJobs(client: Client, ledger: Ledger): Promise<string[]> {
  const jobs = await Array.fromAsync(listAll(client, endpoints.listJobs, { query: { limit: 100 } }));
  const ids = new Set(jobs.map(({ id }) => id));
  const found: string[] = ledger.doubled.map((label) => `the key ${label} gave two jobs`);
  for (const { id } of ledger.jobs) if (!ids.has(id)) found.push(`the accepted job ${id} is not there`);
  for (const [label, count] of countBy(jobs.flatMap(({ spec }) => spec.label ?? []))) {
    if (count > 1) found.push(`${count} jobs came of the one submission ${label}`);
  }
  for (const job of jobs) {
    found.push(...(await checkEvents(client, job)).map((what) => `${job.id} (${job.spec.kind}): ${what}`));
    if (ENDS.has(job.state)) {
      found.push(...(await checkResult(client, job)).map((what) => `${job.id} (${job.spec.kind}): ${what}`));
    }
  }
  return found;
}

async function checkEvents(client: Client, { id, state, attempt, maxAttempts }: JobSummary): Promise<string[]> {
  if (state === "queued") return [];
  if (!ENDS.has(state)) return [`is still ${state} after the quiet`];
  const events: JobEvent[] = [];
  for await (const { data } of client.stream(endpoints.streamJobEvents, { params: { id }, schema: JobEvent })) {
    events.push(data);
  }
  const found: string[] = [];
  const told = events.map(({ type }) => type).filter((type) => type !== "progress");
  const ends = told.filter((type) => ENDS.has(type));
  if (ends.length !== 1) found.push(`ended ${ends.length} times: ${told.join(", ")}`);
  if (told.at(-1) !== state) found.push(`is ${state}, but its events end with ${told.at(-1)}`);
  if (told[0] !== "queued") found.push(`begins with ${told[0]}`);
  if (
    !isRising(
      events.map(({ seq }) => seq),
      1,
    )
  )
    found.push("its events are not in order");
  const attempts = events.filter(({ type }) => type === "leased").map((event) => event.attempt);
  if (!isRising(attempts, 0)) found.push(`its attempts fall: ${attempts.join(", ")}`);
  if (attempt > maxAttempts) found.push(`had ${attempt} attempts of ${maxAttempts}`);
  return found;
}

async function checkResult(client: Client, { id, spec, state, runId }: JobSummary): Promise<string[]> {
  const job = await client.call(endpoints.getJob, { params: { id } });
  if (state === "succeeded" && (runId === null || job.result === null)) return ["succeeded without a result"];
  const found: string[] = [];
  if (runId !== null && state === "succeeded") found.push(...(await checkRun(client, job, runId)));
  if (spec.label === undefined) return found;
  // A result may have been stored when its lease was over: then the job went on, and may have ended otherwise.
  const { label } = spec;
  const series = await Array.fromAsync(listAll(client, endpoints.listSeries, { query: { label, limit: 200 } }));
  const twice = series.filter(({ points }) => points > 1);
  if (twice.length > 0) found.push(`has several points in ${twice.length} of its ${series.length} series`);
  const isMeasured = spec.kind === "benchmark";
  if (state === "succeeded" && isMeasured && series.every(({ points }) => points === 0)) found.push("left no points");
  return found;
}

/** Compares the job's result with the history's. */
async function checkRun(client: Client, job: Job, runId: string): Promise<string[]> {
  const run = await client.call(endpoints.getRun, { params: { id: runId } });
  if (run.origin !== "job") return [`its run ${runId} is a ${run.origin}'s`];
  return isDeepStrictEqual(run.result, job.result) ? [] : ["its run has another result than the job"];
}

/** True if each is at least `step` more than the one before. */
function isRising(values: readonly number[], step: number): boolean {
  return values.every((value, index) => index === 0 || value >= values[index - 1]! + step);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
