import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { Backend } from "../../protocol/hardware.ts";
import { FIRST_VARIANT, type Placement } from "../../protocol/model.ts";
import type { ValidationResult } from "../../protocol/validation.ts";
import type { UploadedModel } from "./place-zoo.ts";
import type { ZooFailure, ZooRow } from "./zoo-row.ts";

const POLL_MS = 100;
/** What runs of itself at the edge is no runner's to measure. */
const MeasuredBackend = Backend.exclude(["edge-wasm"]);
/** One row at a time, then all at once; long enough for a 99th percentile that is not the slowest query. */
const SCENARIOS = [
  { kind: "singleStream", percentile: 0.99, minDurationMs: 500, minQueries: 300 },
  { kind: "offline", minDurationMs: 500 },
] as const;

/** Validates a placement of a network of the zoo by a job, whose result stays in the history. */
export async function measurePlacement(
  client: Client,
  model: UploadedModel,
  { deviceKey, backend, runnerId, software, memory, state }: Placement,
  runner: string,
): Promise<ZooRow | ZooFailure> {
  const { category, name, parameters, version } = model;
  const failed = (reason: string): ZooFailure => ({ category, model: name, backend, reason });
  if (state === "failed") return failed("its answers are not those of the CPU, or it does not run");
  const subject = {
    kind: "model",
    model: `${name}@${version}`,
    variant: FIRST_VARIANT,
    backend: MeasuredBackend.parse(backend),
  } as const;
  const body = { kind: "validation", subject, scenarios: [...SCENARIOS], runnerId, deviceKey } as const;
  const { id } = await client.call(endpoints.createJob, { body });
  const { result, problem, runId } = await waitForEnd(client, id);
  if (result?.kind !== "validation") return failed(problem?.detail ?? "the job left no result");
  const times = readTimes(result);
  if (times === null) return failed("no query was answered");
  const { loadMs, firstAnswerMs } = result.startup;
  return {
    category,
    model: name,
    parameters,
    runner,
    deviceKey,
    backend,
    software,
    ...times,
    memoryBytes: memory === null ? null : memory.baseBytes + memory.bytesPerRow,
    startupMs: loadMs + firstAnswerMs,
    runId,
  };
}

async function waitForEnd(client: Client, id: string) {
  for (;;) {
    const job = await client.call(endpoints.getJob, { params: { id } });
    if (job.state !== "queued" && job.state !== "leased") return job;
    await delay(POLL_MS);
  }
}

function readTimes({ scenarios }: ValidationResult): Pick<ZooRow, "p50Ms" | "p95Ms" | "p99Ms" | "samplesPerS"> | null {
  const latencyMs = scenarios.find(({ scenario }) => scenario.kind === "singleStream")?.latencyMs;
  const offline = scenarios.find(({ scenario }) => scenario.kind === "offline");
  if (latencyMs == null || offline === undefined) return null;
  const { p50, p95, p99 } = latencyMs;
  return { p50Ms: p50, p95Ms: p95, p99Ms: p99, samplesPerS: offline.samplesPerS };
}
