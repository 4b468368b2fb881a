/** Several devices of one runner: two SwiftShader processes represent two cards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { startGpus } from "../../src/gpu-runner/device-host/start-gpus.ts";
import type { JobProgress } from "../../src/protocol/jobs/job.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { runJob } from "./run-job.ts";

/** Of a wait for a process that starts again, on a slow machine. */
const PATIENCE_MS = 100_000;
const logger = pino({ level: "silent" });

let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-devices-"));
  const config = readConfig({ MILLRACE_RUNNER_DIR: folder, MILLRACE_GPU: "software, software" });
  fleet = await DeviceFleet.start(config, logger);
});
afterAll(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true });
});

const runShort = (changes: object) => runJob(fleet, { warmup: 0, iterations: 3, ...changes });

/** A job that measures until it is ended, with a promise of its end. */
function startLong(changes: object = {}) {
  const measuring = Promise.withResolvers<void>();
  const controller = new AbortController();
  const spec = { kernel: "gemm", shape: { m: 256, n: 256, k: 256 }, iterations: 10_000, ...changes };
  const onProgress = ({ phase }: JobProgress) => phase === "measure" && measuring.resolve();
  const outcome = runJob(fleet, spec, { onProgress, signal: controller.signal }).then(
    () => "done",
    (error: unknown) => (error instanceof ProblemError ? error.problem.code : error),
  );
  return { measuring: measuring.promise, outcome, abort: () => controller.abort() };
}

test("each is listed, with a process of its own and a slot for jobs, but kernels once", () => {
  expect(fleet.devices.map(({ key, kind }) => [key, kind])).toEqual([
    ["cpu", "cpu"],
    ["gpu0", "gpu"],
    ["gpu1", "gpu"],
  ]);
  expect(new Set(fleet.all().map(({ host }) => host.pid)).size).toBe(3);
  expect(fleet.jobSlots).toBe(2);
  const names = fleet.kernels.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(fleet.find("gpu0").host.adapters).toEqual([expect.stringMatching(/swiftshader/i)]);
});

test("two jobs run at once, each on a device of its own, and a third goes to the one that is free first", async () => {
  const [one, two] = [startLong(), startLong()];
  await Promise.all([one.measuring, two.measuring]);
  expect(fleet.all().map(({ host }) => host.waiting)).toEqual([0, 1, 1]);
  two.abort();
  expect(await two.outcome).toBe("cancelled");
  await vi.waitFor(() => expect(fleet.find("gpu1").host.waiting).toBe(0), PATIENCE_MS);
  const { deviceKey, result } = await runShort({ kernel: "triad", shape: { n: 4096 } });
  expect(deviceKey).toBe("gpu1");
  expect(result.environment).toMatchObject({ deviceKey: "gpu1", software: true });
  one.abort();
  expect(await one.outcome).toBe("cancelled");
});

test("a job runs where it says, and nowhere else", async () => {
  const triad = { kernel: "triad", shape: { n: 4096 } };
  for (const deviceKey of ["gpu1", "gpu0"]) {
    expect((await runShort({ ...triad, deviceKey })).deviceKey).toBe(deviceKey);
  }
  await expect(runShort({ ...triad, deviceKey: "gpu2" })).rejects.toThrow("No device gpu2");
});

test("a batch is spread, and its shares follow the speeds that were measured", async () => {
  const spread = { kernel: "softmax", shape: { rows: 301, columns: 64 }, spread: true };
  const { result } = await runShort(spread);
  expect(result.shape).toEqual({ rows: 301, columns: 64 });
  expect(result.parts?.map(({ deviceKey }) => deviceKey).toSorted()).toEqual(["gpu0", "gpu1"]);
  expect(result.parts?.map(({ batch }) => batch).toSorted()).toEqual([150, 151]);
  expect(result.correctness).toMatchObject({ correct: true, checkedElements: 301 * 64 });
  const sum = result.parts?.reduce((total, part) => total + part.gigabytesPerSecond, 0);
  expect(result.gigabytesPerSecond).toBeCloseTo(sum ?? 0, 9);
  expect(Math.max(...(result.parts ?? []).map(({ p50Ms }) => p50Ms))).toBe(result.wallMs.p50);

  // The assumed speed of gpu1 halves with each of these, however far apart the measured ones are.
  for (let i = 0; i < 40; i++) fleet.noteSpeed(fleet.find("gpu1"), "softmax", 1e-9);
  const again = (await runShort(spread)).result.parts ?? [];
  const batchOf = (key: string) => again.find(({ deviceKey }) => deviceKey === key)?.batch ?? 0;
  expect(batchOf("gpu0")).toBeGreaterThan(290);
  expect(batchOf("gpu0") + batchOf("gpu1")).toBe(301);

  await expect(runShort({ kernel: "triad", shape: { n: 4096 }, spread: true })).rejects.toThrow("no batch");
});

test("one that dies takes only its own work along, which is begun again", async () => {
  const [one, two] = [startLong({ deviceKey: "gpu0" }), startLong({ deviceKey: "gpu1" })];
  await Promise.all([one.measuring, two.measuring]);
  const [first, second] = [fleet.find("gpu0").host, fleet.find("gpu1").host];
  const { pid } = second;
  process.kill(first.pid!, "SIGKILL");
  await vi.waitFor(() => expect(first).toMatchObject({ restarts: 1, isDown: false, waiting: 1 }), PATIENCE_MS);
  expect(second).toMatchObject({ pid, restarts: 0, waiting: 1 });
  for (const each of [one, two]) each.abort();
  expect(await Promise.all([one.outcome, two.outcome])).toEqual(["cancelled", "cancelled"]);
});

test("an adapter that is not there is left out", async () => {
  expect(await startGpus(["no such card"], { cacheDir: folder, logger })).toEqual([]);
});
