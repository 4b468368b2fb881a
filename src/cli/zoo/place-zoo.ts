import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { readZooCard } from "../../../models/model-card.ts";
import { zooFolder, type ZooModel } from "../../../models/zoo.ts";
import type { Client } from "../../client/client.ts";
import { inferFrame } from "../../client/infer.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { Backend } from "../../protocol/fleet/hardware.ts";
import type { ValidationResult } from "../../protocol/jobs/validation.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import { FIRST_VARIANT, type Placement, type TensorSpec } from "../../protocol/models/model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { validation } from "../../words/kinds/validation.ts";
import type { ZooFailure, ZooRow } from "./zoo-rows.ts";

/** From the last placement that came to the next one. */
const PATIENCE_MS = 300_000;
const PLACE_POLL_MS = 500;

/** A network of the zoo on an edge. */
interface UploadedModel extends ZooModel {
  readonly parameters: number;
  readonly modelVersionId: string;
  readonly version: number;
  readonly inputs: readonly TensorSpec[];
}

/** Uploads a network of the zoo with the data that its variants are measured on; one that is there already stays what it was. */
export async function uploadZooModel(client: Client, { name, category }: ZooModel): Promise<UploadedModel> {
  const { file, heldOut, parameters } = readZooCard(zooFolder(name));
  const read = async (fileName: string) => ({
    mediaType: "application/octet-stream",
    content: new Uint8Array(await readFile(new URL(fileName, zooFolder(name)))),
  });
  const { version } = await client.call(endpoints.uploadModel, { query: { name }, rawBody: await read(file.name) });
  if (version.data?.digest !== `sha256:${heldOut.sha256}`) {
    const params = { model: name, version: version.version };
    await client.call(endpoints.putVersionData, { params, rawBody: await read(heldOut.file) });
  }
  const { id: modelVersionId, inputs } = version;
  return { name, category, parameters, modelVersionId, version: version.version, inputs };
}

/** Long enough for every placement, so that the fastest is the edge's choice. */
const CHOICE_BUDGET_MS = 10_000;

/** Placement on a runner that the edge chooses for one row; null where it is not answered, which ends no measurement. */
export async function askChoice(
  client: Client,
  { name, version, inputs }: Pick<UploadedModel, "name" | "version" | "inputs">,
  runnerId: string,
): Promise<string | null> {
  const model = `${name}@${version}`;
  const row = createSeededInputs(inputs, 1);
  const answer = await inferFrame(client, { model, budgetMs: CHOICE_BUDGET_MS, runnerId, inputs: row }).catch(
    (error: unknown) => {
      if (error instanceof ProblemError) return null;
      throw error;
    },
  );
  return answer?.header.placement.id ?? null;
}

/**
 * Waits until every network was calibrated on the runner, and gives its placements there. Throws where none comes for
 * five minutes.
 */
export async function waitForPlacements(
  client: Client,
  models: readonly UploadedModel[],
  runner: { readonly id: string; readonly name: string },
  onProgress: (placed: number) => void,
): Promise<ReadonlyMap<string, readonly Placement[]>> {
  const placed = new Map<string, readonly Placement[]>();
  let lastMs = performance.now();
  while (placed.size < models.length) {
    for (const { name, modelVersionId } of models.filter((model) => !placed.has(model.name))) {
      const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
      const found = items.filter((each) => each.modelVersionId === modelVersionId && each.runnerId === runner.id);
      if (found.length === 0) continue;
      placed.set(
        name,
        found.filter(({ variant }) => variant === FIRST_VARIANT),
      );
      lastMs = performance.now();
      onProgress(placed.size);
    }
    if (placed.size === models.length) break;
    if (performance.now() - lastMs > PATIENCE_MS) {
      const missing = models.filter((model) => !placed.has(model.name)).map(({ name }) => name);
      throw new ProblemError(
        "no-placement",
        `${runner.name} has no placement of ${missing.join(", ")} yet: look at its jobs.`,
      );
    }
    await delay(PLACE_POLL_MS);
  }
  return placed;
}

const MEASURE_POLL_MS = 100;
/** The edge's own backend is not measured on a runner. */
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
  { runner, chosen }: Pick<ZooRow, "runner" | "chosen">,
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
  const body = { kind: validation.kind, subject, scenarios: [...SCENARIOS], runnerId, deviceKey } as const;
  const { id } = await client.call(endpoints.createJob, { body });
  const { result, problem, runId } = await waitForEnd(client, id);
  if (result?.kind !== validation.kind) return failed(problem?.detail ?? "the job left no result");
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
    chosen,
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
    await delay(MEASURE_POLL_MS);
  }
}

function readTimes({ scenarios }: ValidationResult): Pick<ZooRow, "p50Ms" | "p95Ms" | "p99Ms" | "samplesPerS"> | null {
  const latencyMs = scenarios.find(({ scenario }) => scenario.kind === "singleStream")?.latencyMs;
  const offline = scenarios.find(({ scenario }) => scenario.kind === "offline");
  if (latencyMs == null || offline === undefined) return null;
  const { p50, p95, p99 } = latencyMs;
  return { p50Ms: p50, p95Ms: p95, p99Ms: p99, samplesPerS: offline.samplesPerS };
}
