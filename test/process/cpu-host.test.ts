import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { type InferenceBackend, InferenceServer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { proveRows } from "../../src/gpu-runner/serving/prove-rows.ts";
import { readStatus } from "../../src/gpu-runner/kinds/validation/watch-resident-set.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { type Tensor, typedView } from "../../src/protocol/wire/tensor.ts";
import { problemOf } from "./problem-of.ts";

const TIMEOUT_MS = 120_000;
/** y = [[1, 2], [3, 4], [5, 6]]·x + [0.5, -0.5, 0] */
const layer = {
  inputs: 2,
  outputs: 3,
  weights: Float32Array.of(1, 2, 3, 4, 5, 6),
  bias: Float32Array.of(0.5, -0.5, 0),
};
const options = { role: "cpu", deviceKey: "cpu", cacheDir: tmpdir(), logger: pino({ level: "silent" }) } as const;

let folder = "";
let model = { modelKey: "mdv_1", path: "" };
let host: DeviceHost;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-cpu-host-"));
  model = { ...model, path: path.join(folder, "dense.onnx") };
  await writeFile(model.path, writeOnnxMlp({ name: "dense", input: "x", output: "y", layers: [layer] }));
  host = await DeviceHost.start(options);
}, TIMEOUT_MS);
afterAll(async () => {
  await host.stop();
  await rm(folder, { recursive: true, force: true });
});

function input(...rows: readonly [number, number][]): Tensor {
  const bytes = new Uint8Array(Float32Array.from(rows.flat()).buffer);
  return { name: "x", dtype: "float32", shape: [rows.length, 2], bytes };
}

/** Never 0, which would be this process and all of its relatives. */
function pidOf({ pid }: DeviceHost): number {
  if (pid === null) throw new Error("there is no process");
  return pid;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A host whose one model goes by the key that a server has for it. */
const rekeyed = (device: DeviceHost): InferenceBackend => ({
  infer: (_, tensors, request) => device.infer(model.modelKey, tensors, request),
});

test(
  "who waits behind another's run is not judged by the time of that",
  async () => {
    const entry = new URL("faulty/blocking-device.ts", import.meta.url);
    const environment = { RUNS_FOLDER: folder };
    const slow = await DeviceHost.start({ ...options, entry, environment, runLimitMs: 5_000 });
    await slow.loadModel(model);
    const ask = (requestId: string) => slow.infer(model.modelKey, [input([1, 1])], { requestId });
    // The host's time alone: the process runs until it is let go.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const asked = [ask("req_first"), ask("req_second")];
      // The second is over after six seconds, three of them its own.
      for (const [index, answered] of asked.entries()) {
        await vi.advanceTimersByTimeAsync(3_000);
        await writeFile(path.join(folder, String(index + 1)), "");
        expect([...typedView((await answered).tensors[0]!)]).toEqual([3.5, 6.5, 11]);
      }
    } finally {
      vi.useRealTimers();
    }
    expect(slow.restarts).toBe(0);
    await slow.stop();
  },
  TIMEOUT_MS,
);

test("the CPU is described", () => {
  expect(host.device).toMatchObject({ key: "cpu", kind: "cpu", software: false, backends: ["ort-cpu", "cpu-simd"] });
  expect(host.device.fingerprint.ort).toMatch(/^onnxruntime-node \d/);
  expect(host.kernels).toMatchObject([{ name: "mlp-population", variants: ["cpu-simd"] }]);
  expect(host.kernelDigests).toEqual({ "mlp-population": expect.stringMatching(/^[0-9a-f]{64}$/) });
  // A folder for compiled code that the operator has chosen is kept to.
  expect(host.environment).toEqual({ NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] });
});

describe("a model", () => {
  beforeAll(async () => {
    expect((await host.loadModel(model)).loadMs).toBeGreaterThan(0);
  });

  test("computes rows by themselves, so that requests that wait are joined", async () => {
    const spec = (name: string, size: number) => ({ name, dtype: "float32" as const, shape: [-1, size] });
    const signature = { inputs: [spec("x", 2)], outputs: [spec("y", 3)] };
    expect(await proveRows("mdv_1/fp32", signature, rekeyed(host), options.logger)).toBe(true);
    const server = new InferenceServer(rekeyed(host));
    const served = { modelVersionId: "mdv_1", variant: "fp32", budgetMs: TIMEOUT_MS, joins: true };
    const serve = (x: number) => server.serve({ ...served, requestId: `req_join${x}` }, [input([x, 1])]);
    // Batches of two may be formed once the first has been seen.
    await serve(0);
    const answers = await Promise.all([1, 2, 3].map(serve));
    expect(answers.map(({ rows }) => rows)).toEqual([1, 2, 2]);
    expect(answers.map(({ tensors }) => Array.from(typedView(tensors[0]!), Number))).toEqual(
      [1, 2, 3].map((x) => [x + 2.5, 3 * x + 3.5, 5 * x + 6]),
    );
  });

  test("answers with its outputs and where the time went", async () => {
    const { tensors, times } = await host.infer(model.modelKey, [input([1, 1], [2, -1])], { requestId: "req_1" });
    expect(tensors).toHaveLength(1);
    expect(tensors[0]).toMatchObject({ name: "y", dtype: "float32", shape: [2, 3] });
    expect([...typedView(tensors[0]!)]).toEqual([3.5, 6.5, 11, 0.5, 1.5, 4]);
    for (const duration of Object.values(times)) expect(duration).toBeGreaterThanOrEqual(0);
  });

  test("is started anew where nothing is loaded, beside what serves", async () => {
    const { pid } = host;
    const limits = { timeoutMs: TIMEOUT_MS };
    const { loadMs, firstAnswerMs } = await host.measureStart(model.modelKey, [input([1, 1])], limits);
    expect(loadMs).toBeGreaterThan(0);
    expect(firstAnswerMs).toBeGreaterThan(0);
    expect(host.pid).toBe(pid);
    expect((await problemOf(host.measureStart("absent", [input([1, 1])], limits))).code).toBe("not-found");
    const wrong = host.measureStart(model.modelKey, [{ ...input([1, 1]), name: "z" }], limits);
    expect((await problemOf(wrong)).code).toBe("backend-failed");
  });

  test("lies in a process that reports its memory as the system does", async () => {
    const told = await host.readResidentSet(AbortSignal.timeout(TIMEOUT_MS));
    const status = await readFile(`/proc/${pidOf(host)}/status`, "utf8").catch(() => null);
    expect(told).toBeGreaterThan(2 ** 20);
    if (status !== null) expect((readStatus(status)?.nowBytes ?? 0) / told).toBeCloseTo(1, 0);
  });

  test.each([
    ["another name", { ...input([1, 2]), name: "z" }],
    ["another shape", { ...input([1, 2]), shape: [2, 1] }],
    ["another type", { ...input([1, 2]), dtype: "int32" }],
    ["bytes that do not fill the shape", { ...input([1, 2]), shape: [3, 2] }],
  ] as [string, Tensor][])("refuses an input of %s", async (_, tensor) => {
    expect((await problemOf(host.infer(model.modelKey, [tensor], { requestId: "req_2" }))).code).toBe("backend-failed");
  });

  test("answers NaN with NaN", async () => {
    const { pid } = host;
    const { tensors } = await host.infer(model.modelKey, [input([Number.NaN, 1])], { requestId: "req_nan" });
    expect([...typedView(tensors[0]!)]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(host.pid).toBe(pid);
  });

  test(
    "is there again after its process was killed",
    async () => {
      const { pid, restarts } = host;
      process.kill(pidOf(host), "SIGKILL");
      await vi.waitFor(() => expect(host.restarts).toBe(restarts + 1), TIMEOUT_MS);
      const { tensors } = await host.infer(model.modelKey, [input([0, 0])], { requestId: "req_3" });
      expect([...typedView(tensors[0]!)]).toEqual([0.5, -0.5, 0]);
      expect(host.pid).not.toBe(pid);
    },
    TIMEOUT_MS,
  );

  test(
    "that is given by its content is got anew for the process's next life",
    async () => {
      let reads = 0;
      const read = () => {
        reads++;
        return readFile(model.path);
      };
      await host.loadModel({ modelKey: "mdv_content", read });
      expect(reads).toBe(1);
      const { restarts } = host;
      process.kill(pidOf(host), "SIGKILL");
      await vi.waitFor(() => expect(host.restarts).toBe(restarts + 1), TIMEOUT_MS);
      const { tensors } = await host.infer("mdv_content", [input([0, 0])], { requestId: "req_8" });
      expect([...typedView(tensors[0]!)]).toEqual([0.5, -0.5, 0]);
      expect(reads).toBe(2);
      await host.unloadModel("mdv_content");
    },
    TIMEOUT_MS,
  );

  test("whose file has gone does not keep the others from coming back", async () => {
    const short = { modelKey: "mdv_short", path: path.join(folder, "short.onnx") };
    await copyFile(model.path, short.path);
    await host.loadModel(short);
    await rm(short.path);
    const { restarts } = host;
    process.kill(pidOf(host), "SIGKILL");
    await vi.waitFor(() => expect(host.restarts).toBe(restarts + 1), TIMEOUT_MS);
    const { tensors } = await host.infer(model.modelKey, [input([0, 0])], { requestId: "req_6" });
    expect(tensors).toHaveLength(1);
    const gone = await problemOf(host.infer(short.modelKey, [input([0, 0])], { requestId: "req_7" }));
    expect(gone.code).toBe("not-found");
  });

  test("is gone once it is unloaded", async () => {
    await host.loadModel({ ...model, modelKey: "mdv_2" });
    await host.unloadModel("mdv_2");
    expect((await problemOf(host.infer("mdv_2", [input([0, 0])], { requestId: "req_4" }))).code).toBe("not-found");
  });

  test("is not waited for once the caller has given up", async () => {
    const signal = AbortSignal.abort();
    const { code } = await problemOf(host.infer(model.modelKey, [input([0, 0])], { requestId: "req_5", signal }));
    expect(code).toBe("cancelled");
  });
});

test("a file that is no model is refused", async () => {
  const file = path.join(folder, "broken.onnx");
  await writeFile(file, "not a model");
  expect((await problemOf(host.loadModel({ modelKey: "mdv_3", path: file }))).code).toBe("invalid-model");
  const missing = path.join(folder, "missing.onnx");
  expect((await problemOf(host.loadModel({ modelKey: "mdv_3", path: missing }))).code).toBe("invalid-model");
});

test("a population is checked and timed, and its result names the backend", { timeout: TIMEOUT_MS }, async () => {
  const shape = { members: 33, samples: 2, inputs: 5, hidden: 7, outputs: 3 };
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "mlp-population", shape, iterations: 3 });
  const phases = new Set<string>();
  const measured = await host.benchmark(spec, { onProgress: ({ phase }) => phases.add(phase) });
  expect(measured).toMatchObject({
    variant: "cpu-simd",
    backend: "cpu-simd",
    shape,
    gpuMs: null,
    clock: "runner-wall",
  });
  expect(measured.correctness).toMatchObject({ correct: true, checkedElements: 33 * 2 * 3 });
  expect(measured.wallMs.count).toBe(3);
  expect([...phases]).toEqual(["compile", "check", "warmup", "measure"]);
});

test("a population that takes too long leaves the models alone", { timeout: TIMEOUT_MS }, async () => {
  const { pid, restarts } = host;
  const shape = { members: 4_096, samples: 1_024, hidden: 128 };
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "mlp-population", shape, timeoutMs: 1_000 });
  expect((await problemOf(host.benchmark(spec))).code).toBe("kernel-timeout");
  expect(host).toMatchObject({ pid, restarts });
  const { tensors } = await host.infer(model.modelKey, [input([0, 0])], { requestId: "req_9" });
  expect([...typedView(tensors[0]!)]).toEqual([0.5, -0.5, 0]);
});

test("no kernel runs here", async () => {
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "gemm" });
  expect(await problemOf(host.benchmark(spec))).toMatchObject({
    code: "unknown-kernel",
    errors: [{ pointer: "#/kernel" }],
  });
});

test("Ctrl-C leaves the process alone", async () => {
  const { pid, restarts } = host;
  process.kill(pidOf(host), "SIGINT");
  await host.unloadModel("mdv_none");
  expect(host).toMatchObject({ pid, restarts });
});

test(
  "a stopped host leaves no process and starts none",
  async () => {
    const stopping = await DeviceHost.start(options);
    const pid = pidOf(stopping);
    expect(isAlive(pid)).toBe(true);
    await stopping.stop();
    expect(isAlive(pid)).toBe(false);
    expect(stopping).toMatchObject({ pid: null, restarts: 0 });
    expect((await problemOf(stopping.unloadModel("mdv_1"))).code).toBe("device-lost");
  },
  TIMEOUT_MS,
);

test(
  "a parent that is killed leaves no process behind",
  async () => {
    const parent = fork(path.join(import.meta.dirname, "cpu-parent.ts"), { execArgv: [], stdio: "ignore" });
    const [pid] = (await once(parent, "message")) as [number];
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), TIMEOUT_MS);
  },
  TIMEOUT_MS,
);
