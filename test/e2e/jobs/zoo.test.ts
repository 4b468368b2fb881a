import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawWeights } from "../../../models/draw-weights.ts";
import { readZooCard, type ZooCard } from "../../../models/model-card.ts";
import { ZOO, ZOO_CATEGORIES, zooFolder } from "../../../models/zoo.ts";
import { zooCommand } from "../../../src/cli/zoo/zoo-command.ts";
import { inferFrame } from "../../../src/client/infer.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { type HeldOut, type HeldOutTensor, readHeldOut } from "../../../src/protocol/models/held-out-file.ts";
import { typedView } from "../../../src/protocol/wire/tensor.ts";
import { isHigherBetter, measureTask } from "../../../src/stats/score/task/task-metric.ts";
import { createTestShell } from "../../unit/cli/test-shell.ts";
import { type LocalStack, startLocalStack, waitFor } from "../local-stack.ts";

const BATCH = 128;
const BUDGET_MS = 60_000;
/** As short as a calibration may be: it is to prove the answers here, and not to time them. */
const SHORT = { iterations: 10, maxRows: 1 } as const;

/** One of each category also without what it learned. */
const randomised = ZOO_CATEGORIES.flatMap((category) => ZOO.find((model) => model.category === category) ?? []);

let stack: LocalStack;
beforeAll(async () => {
  stack = await startLocalStack({ runnerVariables: () => ({ MILLRACE_GPU: "none" }) });
  // One after the other, so that they are calibrated in the order in which they are waited for.
  for (const { name } of ZOO) await upload(name, readNetwork(name));
  for (const { name } of randomised) await upload(randomOf(name), drawWeights(readNetwork(name), 1));
}, 600_000);
afterAll(() => stack.stop());

describe.each(ZOO)("$name", ({ name }) => {
  const card = readZooCard(zooFolder(name));

  it("answers its held-out part through the API as well as its card says", async () => {
    const found = await measureByApi(name, card);
    const { low, high } = card.evaluation.interval;
    expect(found).toBeGreaterThanOrEqual(low);
    expect(found).toBeLessThanOrEqual(high);
  });
});

describe.each(randomised)("$name with random weights", ({ name }) => {
  const card = readZooCard(zooFolder(name));

  it("is served like any other and falls short of the card", async () => {
    const found = await measureByApi(randomOf(name), card);
    const { low, high } = card.evaluation.interval;
    if (isHigherBetter(card.metric)) expect(found).toBeLessThan(low);
    else expect(found).toBeGreaterThan(high);
  });
});

describe("millrace zoo", () => {
  it("measures networks on a runner, by jobs whose results stay in the history", async () => {
    const { code, text } = await runZoo("lenet5", "--runner", "local", "--json");
    expect(code).toBe(0);
    const [row, ofCategory, ofAll] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { parameters } = readZooCard(zooFolder("lenet5"));
    expect(row).toMatchObject({ category: "vision", model: "lenet5", parameters, runner: "local", backend: "ort-cpu" });
    expect(row!["chosen"]).toBe(true);
    expect(row!["p50Ms"]).toBeGreaterThan(0);
    expect(row!["p99Ms"]).toBeGreaterThanOrEqual(row!["p95Ms"] as number);
    expect(row!["samplesPerS"]).toBeGreaterThan(0);
    expect([ofCategory, ofAll]).toMatchObject([
      { mean: "vision", models: 1, p50Ms: row!["p50Ms"] },
      { mean: "all", models: 1, p50Ms: row!["p50Ms"] },
    ]);
    const run = await stack.client.call(endpoints.getRun, { params: { id: row!["runId"] as string } });
    expect(run).toMatchObject({ spec: { kind: "validation", subject: { model: "lenet5@1" } } });
  });

  it("prints a table where nobody asks for JSON, and leaves the versions as they are", async () => {
    const { code, text } = await runZoo("lenet5");
    expect(code).toBe(0);
    expect(text).toMatch(/^category +model +parameters +backend +p50 ms +p95 ms +p99 ms +rows\/s +memory\n/);
    expect(text).toMatch(/^vision +lenet5 +61,706 +ort-cpu /m);
    expect(text).toMatch(/^all +mean of 1 /m);
    const { versions } = await stack.client.call(endpoints.getModel, { params: { model: "lenet5" } });
    expect(versions).toMatchObject([{ data: { metric: "accuracy", rows: 250 } }]);
  });

  it("says which networks and runners there are where it is given another", async () => {
    await expect(runZoo("lenet6")).rejects.toThrow("lenet6 is not of the zoo: lenet5, ");
    await expect(runZoo("lenet5", "--runner", "nobody")).rejects.toThrow("no runner nobody is online; online: local");
  });
});

/** The command as a shell that is no terminal runs it. */
async function runZoo(...names: string[]): Promise<{ code: number; text: string }> {
  const shell = createTestShell();
  const command = zooCommand(shell);
  await command.parseAsync([...names, "--edge", stack.baseUrl, "--key", stack.adminKey], { from: "user" });
  const { code, out } = shell.ended();
  return { code, text: out };
}

function randomOf(name: string): string {
  return `${name}-random`;
}

function readNetwork(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`${name}.onnx`, zooFolder(name))));
}

/** Uploads a network and has it calibrated as shortly as may be, instead of as thoroughly as uploads are. */
async function upload(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const { client, runnerId } = stack;
  const rawBody = { mediaType: "application/octet-stream", content };
  const { version } = await client.call(endpoints.uploadModel, { query: { name }, rawBody });
  const { items } = await client.call(endpoints.listJobs, { query: { limit: 200 } });
  const thorough = items.filter(({ spec }) => spec.kind === "calibration" && spec.modelVersionId === version.id);
  for (const { id } of thorough) await client.call(endpoints.cancelJob, { params: { id } }).catch(() => {});
  const body = { kind: "calibration", modelVersionId: version.id, runnerId, ...SHORT } as const;
  await client.call(endpoints.createJob, { body });
}

async function measureByApi(model: string, { metric, heldOut: { file }, name }: ZooCard): Promise<number> {
  const heldOut = readHeldOut(readFileSync(new URL(file, zooFolder(name))));
  // The list of placements is ahead of what the edge admits requests by, for a moment.
  const answers = [await waitFor(`${model} to be placed`, () => ask(model, heldOut, 0))];
  for (let from = BATCH; from < heldOut.rows; from += BATCH) answers.push(await ask(model, heldOut, from));
  const shape = [heldOut.rows, ...answers[0]!.shape.slice(1)];
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  let at = 0;
  for (const answer of answers) {
    values.set(answer.values, at);
    at += answer.values.length;
  }
  return measureTask(metric, { shape, values }, heldOut.target, [...heldOut.inputs.values()][0]!);
}

async function ask(model: string, { inputs, rows }: HeldOut, from: number): Promise<HeldOutTensor> {
  const to = Math.min(rows, from + BATCH);
  const tensors = [...inputs].map(([name, { shape, values }]) => {
    const width = values.length / rows;
    const bytes = new Uint8Array(values.slice(from * width, to * width).buffer);
    return { name, dtype: "float32" as const, shape: [to - from, ...shape.slice(1)], bytes };
  });
  const { outputs } = await inferFrame(stack.client, { model, budgetMs: BUDGET_MS, inputs: tensors });
  return { shape: outputs[0]!.shape, values: Float32Array.from(typedView(outputs[0]!) as Float32Array) };
}
