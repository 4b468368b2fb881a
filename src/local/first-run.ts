import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { readVariantCard } from "../../models/model-card.ts";
import type { Client } from "../client/client.ts";
import { followJob } from "../client/jobs.ts";
import { readCredential } from "../gpu-runner/link/registration.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { Capabilities } from "../protocol/fleet/hardware.ts";
import type { Runner } from "../protocol/fleet/runner.ts";
import type { InferReply, InferRequest } from "../protocol/inference/inference.ts";
import type { BenchmarkResult } from "../protocol/jobs/benchmark.ts";
import { readHeldOut } from "../protocol/models/held-out-file.ts";
import { toProblem } from "../protocol/wire/problem.ts";
import { LocalError } from "./data-folder.ts";
import { NO_GPU, type Summary } from "./summary.ts";

const RUNNER_TIMEOUT_MS = 300_000;
const HISTORY_TIMEOUT_MS = 60_000;
/** Budgets to try: a busy machine may need more than the first. The summary names the one that was met. */
const BUDGETS_MS = [100, 400, 1_600, 6_400];
const OUT_OF_TIME: ReadonlySet<string> = new Set(["budget-exceeded", "budget-unattainable", "overloaded"]);
/** The runner was cut off, as by a machine that stood still: it comes back within seconds. */
const AWAY: ReadonlySet<string> = new Set(["runner-offline", "runner-lost", "no-placement"]);
const RETURN_MS = 3_000;
const BENCHMARK = { kind: "benchmark", kernel: "gemm", shape: { m: 256, n: 256, k: 256 }, iterations: 50 } as const;

/** Shows how far the run is: a step, and within it `done` of `total`. */
interface Progress {
  step(text: string): void;
  update(done: number, total: number): void;
}

export interface FirstRunContext {
  readonly client: Client;
  readonly root: string;
  readonly dataDir: string;
  readonly progress: Progress;
}

type Found = Pick<Summary, "runner" | "benchmark" | "inference" | "history">;

/** The way through the house: a runner, a model, a checked benchmark, a real digit, and what stays of it. */
export async function performFirstRun(context: FirstRunContext): Promise<Found> {
  const { client, progress } = context;
  progress.step("Waiting for the runner");
  const runner = await waitForRunner(context);
  progress.step("Uploading the models and calibrating them");
  const { version } = await uploadModel(context, "lenet5", "lenet5.onnx");
  await uploadInt8(context, version.version);
  await uploadModel(context, "cartpole", "cartpole.onnx");
  for (const name of ["lenet5", "cartpole"]) await waitForPlacement(context, name, runner.id);
  const benchmark = await benchmarkKernel(context, runner);
  progress.step("Answering a real digit within its budget");
  const inference = await recogniseDigit(context);
  progress.step("Reading the history");
  const history = await waitForHistory(client);
  return { runner: { id: runner.id, ...benchmark.place }, benchmark: benchmark.found, inference, history };
}

type OnlineRunner = Runner & { readonly capabilities: Capabilities };

/** The benchmark and its device; on a runner without a GPU none, and its first device. */
async function benchmarkKernel(context: FirstRunContext, { id, capabilities }: OnlineRunner) {
  if (!capabilities.kernels.some(({ name }) => name === BENCHMARK.kernel)) {
    context.progress.step(`Leaving out the benchmark: ${NO_GPU}`);
    const [device] = capabilities.devices;
    return { place: { device: device?.name ?? "no device", software: device?.software ?? false }, found: null };
  }
  context.progress.step(`Benchmarking ${BENCHMARK.kernel} ${Object.values(BENCHMARK.shape).join("×")}`);
  const result = await runBenchmark(context, id);
  const { environment, correctness, kernel, gflops, roofline } = result;
  const { shareOfRoof, bound } = roofline ?? { shareOfRoof: null, bound: null };
  const timed = result.gpuMs !== null && result.clock === "gpu-timestamp" ? result.gpuMs : result.wallMs;
  return {
    place: { device: environment.deviceName, software: environment.software },
    found: { kernel, correct: correctness.correct, gflops, shareOfRoof, bound, p50Ms: timed.p50, n: timed.count },
  };
}

async function waitForRunner({ client, dataDir }: FirstRunContext): Promise<OnlineRunner> {
  return poll(RUNNER_TIMEOUT_MS, `The runner did not come up: see ${join(dataDir, "runner.log")}.`, async () => {
    const credential = await readCredential(join(dataDir, "runner"));
    if (credential === null) return null;
    const runner = await client.call(endpoints.getRunner, { params: { id: credential.runnerId } });
    const { state, capabilities } = runner;
    return state === "online" && capabilities !== null ? { ...runner, capabilities } : null;
  });
}

async function uploadModel({ client, root }: FirstRunContext, name: string, file: string) {
  return client.call(endpoints.uploadModel, { query: { name }, rawBody: await readOnnx(root, name, file) });
}

/** LeNet-5 with int8 arithmetic, and the fidelity that was measured on held-out digits. */
async function uploadInt8({ client, root }: FirstRunContext, version: number): Promise<void> {
  const { name, file, fidelity } = readVariantCard(pathToFileURL(join(root, "models/lenet5/int8.json")));
  await client.call(endpoints.uploadVariant, {
    params: { model: "lenet5", version },
    query: { name, fidelity },
    rawBody: await readOnnx(root, "lenet5", file.name),
  });
}

async function readOnnx(root: string, model: string, file: string) {
  const content = new Uint8Array(await readFile(join(root, "models", model, file)));
  return { mediaType: "application/octet-stream", content };
}

async function waitForPlacement({ client }: FirstRunContext, model: string, runnerId: string): Promise<void> {
  await poll(RUNNER_TIMEOUT_MS, `${model} was not calibrated in time.`, async () => {
    const { items } = await client.call(endpoints.listPlacements, { params: { model } });
    return items.find((placement) => placement.runnerId === runnerId && placement.state === "eligible") ?? null;
  });
}

async function runBenchmark({ client, progress }: FirstRunContext, runnerId: string): Promise<BenchmarkResult> {
  const job = await client.call(endpoints.createJob, { body: { ...BENCHMARK, runnerId } });
  for await (const event of followJob(client, job.id)) {
    if (event.progress !== null) progress.update(event.progress.done, event.progress.total);
  }
  const { result, problem } = await client.call(endpoints.getJob, { params: { id: job.id } });
  if (result?.kind === "benchmark") return result;
  throw new LocalError(`The benchmark failed: ${problem?.detail ?? "it left no result"}`);
}

/** Asks for a digit that the training never saw. */
async function recogniseDigit({ client, root }: FirstRunContext): Promise<NonNullable<Summary["inference"]>> {
  const { inputs, target } = readHeldOut(await readFile(join(root, "models/lenet5/held-out.safetensors")));
  const [expected] = target.values;
  const pixels = inputs.get("image")?.values.slice(0, 28 * 28);
  if (expected === undefined || pixels === undefined) throw new LocalError("LeNet-5's file of digits holds none.");
  const image = { dtype: "float32" as const, shape: [1, 1, 28, 28], data: [...pixels] };
  const reply = await inferInBudget(client, { image });
  const logits = reply.outputs.logits?.data as number[];
  return {
    model: `${reply.model}@${reply.version}`,
    budgetMs: reply.budgetMs,
    totalMs: reply.latency.totalMs,
    predictedP99Ms: reply.prediction.latencyMs,
    budgetMet: reply.budgetMet,
    label: logits.indexOf(Math.max(...logits)),
    expected,
  };
}

/** The answer within the first budget that the machine meets, else that to the last; throws what became of that one. */
async function inferInBudget(
  client: Client,
  inputs: InferRequest["inputs"],
  [budgetMs, ...larger]: readonly number[] = BUDGETS_MS,
): Promise<InferReply> {
  if (budgetMs === undefined) throw new RangeError("there is no budget");
  try {
    const reply = await client.call(endpoints.infer, { body: { model: "lenet5", budgetMs, inputs } });
    // An answer may come a little late.
    return reply.budgetMet || larger.length === 0 ? reply : inferInBudget(client, inputs, larger);
  } catch (error) {
    const { code } = toProblem(error);
    const isAway = AWAY.has(code);
    if (larger.length === 0 || !(isAway || OUT_OF_TIME.has(code))) throw error;
    if (isAway) await delay(RETURN_MS);
    return inferInBudget(client, inputs, larger);
  }
}

/** Counts what stands in the history, once the request just made is there too. */
async function waitForHistory(client: Client): Promise<Summary["history"]> {
  return poll(HISTORY_TIMEOUT_MS, "The measurements did not reach the history.", async () => {
    const { items } = await client.call(endpoints.listSeries, { query: { limit: 200 } });
    if (!items.some((series) => series.metric === "totalMs")) return null;
    return { series: items.length, points: items.reduce((sum, series) => sum + series.points, 0) };
  });
}

/** Asks again until there is an answer; what goes wrong meanwhile counts as none. */
async function poll<Value>(timeoutMs: number, message: string, ask: () => Promise<Value | null>): Promise<Value> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    const value = await ask().catch(() => null);
    if (value !== null) return value;
    await delay(150);
  }
  throw new LocalError(message);
}

const BAR_WIDTH = 24;

/** Progress on stderr: a line a step, and on a terminal a bar within it. */
export function showProgress(stream: NodeJS.WriteStream): Progress {
  let text = "";
  return {
    step(next) {
      if (text !== "" && stream.isTTY) stream.write("\n");
      text = next;
      stream.write(stream.isTTY ? `\r\x1b[2K${text} …` : `${text} …\n`);
    },
    update(done, total) {
      if (!stream.isTTY || total === 0) return;
      const filled = Math.round((BAR_WIDTH * done) / total);
      stream.write(`\r\x1b[2K${text} [${"#".repeat(filled)}${"·".repeat(BAR_WIDTH - filled)}] ${done}/${total}`);
    },
  };
}
