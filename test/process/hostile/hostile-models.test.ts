/**
 * Effects of a stranger's network on a process that serves others, and the errors that these get: on a real process.
 */
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { ModelLoader } from "../../../src/gpu-runner/serving/model-loader.ts";
import { runCalibration } from "../../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import { CalibrationSpec } from "../../../src/protocol/jobs/calibration.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { InferenceServer } from "../../../src/gpu-runner/serving/queue/inference-server.ts";
import { type Problem, ProblemError } from "../../../src/protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { deepFile, growingFile, slowFile, stormyFile, victimFile, wideFile } from "./hostile-files.ts";
import { problemOf } from "../problem-of.ts";

/** Beyond any forecast, also of one that has seen requests wait for a process that starts again. */
const BUDGET_MS = 86_400_000;
const PROCESS_BYTES = 2 ** 30;
/** Numbers of one row that take an eighth of it. */
const EIGHTH = PROCESS_BYTES / 8 / 4;
/** The slow model's width, and rows for which it needs far more than its limit, 3·10¹² operations on one thread. */
const WIDTH = 1_024;
const MANY = 16_384;
const TIMES = 100;
const options = {
  role: "cpu",
  deviceKey: "cpu",
  cacheDir: tmpdir(),
  logger: pino({ level: "silent" }),
  processBytes: PROCESS_BYTES,
} as const;
/** A slow machine loads a deep network within it. */
const RUN_LIMIT_MS = 120_000;
/** Where a test waits until it is over, with a core at work; a slow machine starts and loads again within it. */
const SHORT_LIMIT_MS = 15_000;

let host: DeviceHost;
let server: InferenceServer;
/** Meets the first one's requests in the process, as a job of the same runner does. */
let beside: InferenceServer;
beforeEach(async () => {
  await start(RUN_LIMIT_MS);
  return () => host.stop();
});
afterEach(() => expectServed());

async function start(runLimitMs: number): Promise<void> {
  host = await DeviceHost.start({ ...options, runLimitMs });
  [server, beside] = [new InferenceServer(host), new InferenceServer(host)];
  await load("victim", victimFile);
}

async function startAgain(runLimitMs: number): Promise<void> {
  await host.stop();
  await start(runLimitMs);
}

function load(name: string, file: Uint8Array): Promise<unknown> {
  return host.loadModel({ modelKey: `${name}/fp32`, read: async () => file });
}

function input(rows: number, width = 1): Tensor {
  const bytes = new Uint8Array(new Float32Array(rows * width).fill(3).buffer);
  return { name: "x", dtype: "float32", shape: [rows, width], bytes };
}

let requests = 0;
function ask(name: string, tensor: Tensor, by = server) {
  const request = { requestId: `req_${requests++}`, modelVersionId: name, variant: "fp32", budgetMs: BUDGET_MS };
  return by.serve(request, [tensor]);
}

async function expectServed(by = server): Promise<void> {
  const { tensors } = await ask("victim", input(1), by);
  expect([...typedView(tensors[0]!)]).toEqual([7]);
}

/** The culprit's problem, while requests of others come before, beside and behind it and are all answered. */
async function meetOthers(culprit: () => Promise<unknown>): Promise<Problem> {
  const before = expectServed();
  const harm = problemOf(culprit());
  const [problem] = await Promise.all([harm, before, expectServed(), expectServed(beside), expectServed(beside)]);
  return problem;
}

test("a batch that takes all memory ends itself, and no other request", async () => {
  await load("growing", growingFile(EIGHTH));
  const alone = await ask("growing", input(1));
  expect([...typedView(alone.tensors[0]!)]).toEqual([3]);
  const { restarts } = host;
  const problem = await meetOthers(() => ask("growing", input(32)));
  expect(problem).toMatchObject({ code: "out-of-memory", detail: expect.stringContaining(`${PROCESS_BYTES}`) });
  expect(host.restarts).toBe(restarts + 1);
});

test("a batch that takes too long ends itself, and no other request", async () => {
  await startAgain(SHORT_LIMIT_MS);
  await load("slow", slowFile(WIDTH, TIMES));
  const problem = await meetOthers(() => ask("slow", input(MANY, WIDTH)));
  expect(problem).toMatchObject({ code: "backend-failed", detail: expect.stringContaining(`${SHORT_LIMIT_MS} ms`) });
});

test("a model that ends the process again and again is locked out, whatever it answers in between", async () => {
  await load("growing", growingFile(EIGHTH));
  for (let time = 0; time < 3; time++) {
    await ask("growing", input(1));
    expect((await meetOthers(() => ask("growing", input(32)))).code).toBe("out-of-memory");
  }
  const { restarts, pid } = host;
  const problem = await problemOf(ask("growing", input(1)));
  expect(problem).toMatchObject({ code: "model-quarantined", status: 503 });
  expect(problem.retryAfterMs).toBeGreaterThan(0);
  expect((await problemOf(load("growing", growingFile(EIGHTH)))).code).toBe("model-quarantined");
  await expectServed();
  expect(host).toMatchObject({ restarts, pid });
});

test("a model under which the process crashes again and again is locked out", async () => {
  await load("slow", slowFile(WIDTH, TIMES));
  for (let time = 0; time < 3; time++) {
    await vi.waitFor(() => expect(host.isDown).toBe(false), RUN_LIMIT_MS);
    const run = problemOf(host.infer("slow/fp32", [input(MANY, WIDTH)], { requestId: "req_slow" }));
    // It is under way then.
    await nextTurn();
    process.kill(host.pid ?? Number.NaN, "SIGSEGV");
    expect(await run).toMatchObject({ code: "device-lost", detail: expect.stringContaining("SIGSEGV") });
  }
  await expectServed();
  const run = problemOf(host.infer("slow/fp32", [input(1, WIDTH)], { requestId: "req_slow" }));
  expect((await run).code).toBe("model-quarantined");
});

test("a process that serves is ended before the runner where the machine's memory ends", async () => {
  expect(Number(await readFile(`/proc/${host.pid}/oom_score_adj`, "utf8"))).toBeGreaterThanOrEqual(500);
});

test("a model that is tried apart ends a process of its own", async () => {
  await startAgain(SHORT_LIMIT_MS);
  const { pid } = host;
  const { signal } = new AbortController();
  const memory = await meetOthers(() => host.tryModel(growingFile(16 * EIGHTH), [input(1)], { signal }));
  expect(memory.code).toBe("out-of-memory");
  const time = await meetOthers(() => host.tryModel(slowFile(WIDTH, TIMES), [input(MANY, WIDTH)], { signal }));
  expect(time).toMatchObject({ code: "backend-failed", detail: expect.stringContaining(`${SHORT_LIMIT_MS} ms`) });
  const broken = await meetOthers(() => host.tryModel(Uint8Array.of(1, 2, 3), [input(1)], { signal }));
  expect(broken.code).toBe("invalid-model");
  await host.tryModel(victimFile, [input(1)], { signal });
  expect(host).toMatchObject({ pid, restarts: 0 });
});

test("a calibration of a model that takes all memory fails, and what it would have served beside goes on", async () => {
  const { pid } = host;
  const digest = `sha256:${"0".repeat(64)}`;
  const value = (name: string) => ({ name, dtype: "float32" as const, shape: [-1, 1] });
  const model = {
    modelVersionId: createId("modelVersion"),
    variants: [{ name: "fp32", digest }],
    inputs: [value("x")],
    outputs: [value("y")],
  };
  const spec = CalibrationSpec.parse({ kind: "calibration", modelVersionId: model.modelVersionId });
  const device = { host, server };
  const context = {
    fleet: { all: () => [device], cpu: device },
    models: new ModelLoader({ keep: () => {}, read: async () => growingFile(16 * EIGHTH) }, options.logger),
    model,
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const problem = await meetOthers(() => runCalibration(spec, context as never));
  expect(problem.code).toBe("out-of-memory");
  expect(host).toMatchObject({ pid, restarts: 0 });
});

test("what is deep, wide or not a number is answered, and the process goes on", async () => {
  const { pid } = host;
  for (const [name, file] of Object.entries({ deep: deepFile(16_000), wide: wideFile(64), stormy: stormyFile() })) {
    const outcome = await load(name, file).then(() => ask(name, input(1)), toProblemOf);
    if (outcome !== null) expect(outcome.tensors.length, name).toBe(name === "wide" ? 64 : 1);
    await expectServed();
  }
  expect(host).toMatchObject({ pid, restarts: 0 });
});

/** Null for a refusal, which is as good as an answer. */
function toProblemOf(error: unknown): null {
  expect(error).toBeInstanceOf(ProblemError);
  return null;
}
