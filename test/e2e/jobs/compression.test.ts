import { afterAll, beforeAll, expect, it } from "vitest";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { InferReply } from "../../../src/protocol/inference/inference.ts";
import type { CompressionResult } from "../../../src/protocol/jobs/compression.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { writeSafetensors } from "../../unit/protocol/write-safetensors.ts";
import { type LocalStack, startLocalStack, waitFor, waitForJob } from "../local-stack.ts";
import { drawSamples, SPARE_CHANNELS, WIDE_CLASSES, WIDE_INPUTS, writeWideNetwork } from "./wide-network.ts";

const ROWS = 256;
const ASKED_ROWS = 128;
const LONG_MS = 60_000;
const octets = "application/octet-stream";

let stack: LocalStack;
let result: CompressionResult;
const samples = drawSamples(ROWS);
let labels: number[];

beforeAll(async () => {
  // What a software GPU makes of either variant is not what is asked here.
  stack = await startLocalStack({ runnerVariables: () => ({ MILLRACE_GPU: "none" }) });
  const { client } = stack;
  await client.call(endpoints.uploadModel, {
    query: { name: "wide" },
    rawBody: { mediaType: octets, content: writeWideNetwork() },
  });
  await placementOf("fp32");
  // Every tenth label is another's, so that the network itself is not without fault.
  const answers = [...(await classify(0, { budgetMs: LONG_MS })).classes, ...(await classify(ASKED_ROWS, {})).classes];
  labels = answers.map((answer, row) => (row % 10 === 0 ? (answer + 1) % WIDE_CLASSES : answer));
});
afterAll(() => stack.stop());

/** The placement of a variant on the CPU, once it was calibrated. */
function placementOf(variant: string) {
  return waitFor(`${variant} to be placed`, async () => {
    const { items } = await stack.client.call(endpoints.listPlacements, { params: { model: "wide" } });
    return items.find((each) => each.variant === variant && each.backend === "ort-cpu" && each.state === "eligible");
  });
}

/** Asks for the classes of so many samples from one on. */
async function classify(
  first: number,
  wishes: { budgetMs?: number; minFidelity?: number; placementId?: string },
): Promise<{ reply: InferReply; classes: number[] }> {
  const data = [...samples.subarray(first * WIDE_INPUTS, (first + ASKED_ROWS) * WIDE_INPUTS)];
  const inputs = { x: { shape: [ASKED_ROWS, WIDE_INPUTS], data } };
  const body = { model: "wide", budgetMs: LONG_MS, confidence: 0.5, ...wishes, inputs };
  const reply = await stack.client.call(endpoints.infer, { body });
  const scores = (reply.outputs.scores?.data ?? []) as number[];
  const classes = Array.from({ length: ASKED_ROWS }, (_, row) => {
    const own = scores.slice(row * WIDE_CLASSES, (row + 1) * WIDE_CLASSES);
    return own.indexOf(Math.max(...own));
  });
  return { reply, classes };
}

function heldOut(): Uint8Array<ArrayBuffer> {
  const baseline = new Float32Array(WIDE_CLASSES);
  return writeSafetensors(
    {
      "input.x": { dtype: "F32", shape: [ROWS, WIDE_INPUTS], bytes: new Uint8Array(samples.buffer) },
      target: { dtype: "U8", shape: [ROWS], bytes: Uint8Array.from(labels) },
      baseline: { dtype: "F32", shape: [1, WIDE_CLASSES], bytes: new Uint8Array(baseline.buffer) },
    },
    { metric: "accuracy" },
  );
}

const shareRight = (classes: readonly number[]) =>
  classes.filter((found, row) => found === labels[row]).length / classes.length;

it("makes a smaller variant by a job, measured on the version's data", async () => {
  const { client } = stack;
  const params = { model: "wide", version: 1 };
  const version = await client.call(endpoints.putVersionData, {
    params,
    rawBody: { mediaType: octets, content: heldOut() },
  });
  expect(version.data).toMatchObject({ rows: ROWS, metric: "accuracy" });
  const job = await client.call(endpoints.createVariant, {
    params: { model: "wide" },
    body: { name: "small", recipe: { method: "pruned", channels: SPARE_CHANNELS } },
  });
  expect(job).toMatchObject({ spec: { kind: "compression", modelVersionId: version.id } });
  const ended = await waitForJob(stack, job.id, ["succeeded", "failed"]);
  expect(ended.problem).toBeNull();
  if (ended.result?.kind !== "compression") throw new Error("the job has no compression for a result");
  result = ended.result;
  expect(result).toMatchObject({ publication: "published", variant: "small", calibration: null });
  expect(result.changed.length).toBeGreaterThan(0);
  expect(result.file.sizeBytes).toBeLessThan(result.parentBytes / 8);
  const { versions } = await client.call(endpoints.getModel, { params: { model: "wide" } });
  expect(versions[0]?.variants).toMatchObject([
    { name: "fp32", recipe: null, jobId: null },
    {
      name: "small",
      digest: result.file.digest,
      sizeBytes: result.file.sizeBytes,
      fidelity: result.fidelity.value,
      recipe: { method: "pruned", channels: SPARE_CHANNELS },
      jobId: job.id,
    },
  ]);
});

it("has the fidelity that is promised, measured again through the API", async () => {
  const [whole, small] = [await placementOf("fp32"), await placementOf("small")];
  expect(small.fidelity).toBe(result.fidelity.value);
  const measure = async (placementId: string) => {
    const classes = [];
    for (const first of [0, ASKED_ROWS]) classes.push(...(await classify(first, { placementId })).classes);
    return shareRight(classes);
  };
  const [parent, variant] = [await measure(whole.id), await measure(small.id)];
  expect(result.fidelity).toMatchObject({ basis: "metric", metric: "accuracy", rows: ROWS });
  if (result.fidelity.basis !== "metric") return;
  // A sample on the edge between two classes may fall to the other side in another batch.
  expect(Math.abs(parent - result.fidelity.parent)).toBeLessThanOrEqual(1 / ROWS);
  expect(Math.abs(variant - result.fidelity.variant)).toBeLessThanOrEqual(1 / ROWS);
  expect(Math.abs(variant / parent - result.fidelity.value)).toBeLessThanOrEqual(0.01);
  const { low, high } = result.fidelity.difference;
  expect(low).toBeLessThanOrEqual(variant - parent + 1 / ROWS);
  expect(high).toBeGreaterThanOrEqual(variant - parent - 1 / ROWS);
  expect(result.fidelity.value).toBeGreaterThan(0.5);
  expect(result.fidelity.value).toBeLessThan(1);
});

/** What is predicted of a placement now: as requests to it tell. */
async function predict(placementId: string): Promise<number> {
  return (await classify(0, { placementId })).reply.prediction.latencyMs;
}

/** A budget that only the smaller variant is predicted to meet. */
async function budgetBetween(wholeId: string, smallId: string): Promise<number> {
  return Math.sqrt((await predict(wholeId)) * (await predict(smallId)));
}

it("answers by the smaller variant within a budget that only that meets, and says why", async () => {
  const [whole, small] = [await placementOf("fp32"), await placementOf("small")];
  const { reply: relaxed } = await classify(0, { budgetMs: LONG_MS });
  expect(relaxed.placement).toMatchObject({ variant: "fp32", fidelity: 1 });
  expect(relaxed.passedOver).toBeUndefined();
  // Predictions follow what was measured a moment ago: on a busy machine the first budget may be none between them.
  const { reply, classes } = await waitFor("an answer by the smaller variant", async () => {
    const budgetMs = await budgetBetween(whole.id, small.id);
    const answer = await classify(0, { budgetMs });
    return answer.reply.placement.variant === "small" ? answer : undefined;
  });
  const { passedOver, placement, prediction, budgetMs } = reply;
  expect(placement).toMatchObject({ id: small.id, variant: "small", fidelity: result.fidelity.value });
  expect(passedOver).toMatchObject({ placementId: whole.id, variant: "fp32", fidelity: 1 });
  expect(passedOver?.latencyMs).toBeGreaterThan(budgetMs);
  expect(prediction.latencyMs).toBeLessThanOrEqual(budgetMs);
  expect(shareRight(classes)).toBeGreaterThan(0.5 * result.fidelity.value);
});

it("refuses where that is not faithful enough, and says what would fit", async () => {
  const [whole, small] = [await placementOf("fp32"), await placementOf("small")];
  const minFidelity = (1 + result.fidelity.value) / 2;
  const { problem, budgetMs } = await waitFor("a refusal for want of fidelity", async () => {
    // As much as the smaller one takes: where the machine is busy, the middle between the two may be enough for both.
    const budget = await predict(small.id);
    const refused: unknown = await classify(0, { budgetMs: budget, minFidelity }).catch((error: unknown) => error);
    if (!(refused instanceof ProblemError) || refused.problem.code !== "budget-unattainable") return undefined;
    return { problem: refused.problem, budgetMs: budget };
  });
  expect(problem.errors).toMatchObject([{ pointer: "#/budgetMs" }]);
  expect(problem.fits).toMatchObject({ placementId: whole.id, variant: "fp32" });
  expect(problem.fits?.budgetMs).toBeGreaterThan(budgetMs);
});

it("refuses what cannot be made, naming the field", async () => {
  const pointersOf = async (body: object) => {
    const call = stack.client.call(endpoints.createVariant, {
      params: { model: "wide" },
      body,
    });
    const refused: unknown = await call.catch((error: unknown) => error);
    if (!(refused instanceof ProblemError)) throw new Error("it was not refused", { cause: refused });
    return refused.problem.errors?.map(({ pointer }) => pointer);
  };
  expect(await pointersOf({ name: "small", recipe: { method: "fp16" } })).toEqual(["#/name"]);
  expect(await pointersOf({ recipe: { method: "low-rank" } })).toEqual(["#/recipe/energy"]);
});
