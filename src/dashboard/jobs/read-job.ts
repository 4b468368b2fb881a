import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { runEndpoints } from "../../protocol/history/run-endpoints.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { Device } from "../../protocol/fleet/hardware.ts";
import type { Environment } from "../../protocol/jobs/job-fields.ts";
import type { Job } from "../../protocol/jobs/job.ts";
import type { Run, RunSamples } from "../../protocol/history/run.ts";
import { Trace } from "../../protocol/jobs/benchmark.ts";
import { type LaidTrace, layOutTrace } from "./lay-out-trace.ts";

/** A trace as it is shown, with what it says of itself. */
export interface ReadTrace extends Pick<Trace, "otherData"> {
  readonly laid: LaidTrace;
}

/** Stored parts of a run; a part that could not be read is null, but its size is kept. */
export interface ReadRun {
  readonly id: string;
  readonly samplesBytes: number | null;
  readonly samples: RunSamples | null;
  readonly traceBytes: number | null;
  readonly trace: ReadTrace | null;
}

/** A job with all that the page shows of it, so that everything appears at once. */
export interface ReadJob {
  readonly job: Job;
  readonly run: ReadRun | null;
  /** The device of a result that stands under its roofs; null where the runner is gone. */
  readonly device: Device | null;
}

/** Reads a job and what it left. */
export async function readJob(client: Client, id: string, signal: AbortSignal): Promise<ReadJob> {
  const job = await client.call(jobEndpoints.getJob, { params: { id }, signal });
  const { runId, runnerId, result } = job;
  const [run, device] = await Promise.all([
    runId === null ? null : readRun(client, runId, signal),
    runnerId === null || result === null || !("roofline" in result)
      ? null
      : findDevice(client, runnerId, result, signal),
  ]);
  return { job, run, device };
}

async function readRun(client: Client, id: string, signal: AbortSignal): Promise<ReadRun> {
  const run: Run = await client.call(runEndpoints.getRun, { params: { id }, signal });
  const { samplesBytes } = run;
  const traceBytes = run.origin === "job" ? run.traceBytes : null;
  const [samples, trace] = await Promise.all([
    samplesBytes === null
      ? null
      : client.call(runEndpoints.getRunSamples, { params: { id }, signal }).catch(() => null),
    traceBytes === null ? null : readTrace(client, id, signal).catch(() => null),
  ]);
  return { id, samplesBytes, samples, traceBytes, trace };
}

async function readTrace(client: Client, id: string, signal: AbortSignal): Promise<ReadTrace> {
  const response = await client.send(runEndpoints.getRunTrace, { params: { id }, signal });
  const { otherData, traceEvents } = Trace.parse(await response.json());
  return { otherData, laid: layOutTrace({ traceEvents }) };
}

async function findDevice(
  client: Client,
  runnerId: string,
  { environment }: { readonly environment: Environment },
  signal: AbortSignal,
): Promise<Device | null> {
  const runner = await client.call(runnerEndpoints.getRunner, { params: { id: runnerId }, signal }).catch(() => null);
  return runner?.capabilities?.devices.find(({ key }) => key === environment.deviceKey) ?? null;
}
