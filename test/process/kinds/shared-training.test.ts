/** Trainings that several devices share: two SwiftShader processes represent two equal cards. */
import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";
import { BackendChoices } from "../../../src/gpu-runner/kinds/steps/choose-backend.ts";
import { runTraining } from "../../../src/gpu-runner/kinds/training/run-training.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { TrainingResult, TrainingSpec } from "../../../src/protocol/jobs/training.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { childPids } from "../child-pids.ts";

const TIMEOUT_MS = 600_000;
const logger = pino({ level: "silent" });

let fleet: DeviceFleet;
let residents: readonly number[];
beforeAll(async () => {
  const config = readConfig({ MILLRACE_RUNNER_DIR: CACHE_DIR, MILLRACE_GPU: "software,software" });
  fleet = await DeviceFleet.start(config, logger);
  residents = await childPids(process.pid);
}, TIMEOUT_MS);
afterAll(() => fleet.stop());

async function train(changes: object, onProgress: (progress: JobProgress) => void = () => {}): Promise<TrainingResult> {
  const spec = TrainingSpec.parse({
    kind: "training",
    environment: "cartpole",
    network: { kind: "mlp", hidden: [4] },
    algorithm: { name: "sep-cma-es", population: 9 },
    generations: 12,
    episodes: 2,
    evaluation: { everyGenerations: 4, episodes: 20 },
    seed: 5,
    checkpointMs: 100,
    ...changes,
  });
  const put = async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    return { name, digest, sizeBytes: bytes.length, mediaType: "application/octet-stream" };
  };
  const context = {
    fleet,
    backends: new BackendChoices(fleet),
    environment: null,
    userKernels: false,
    artifacts: { put, get: async () => null },
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress,
    logger,
  };
  return TrainingResult.parse((await runTraining(spec, context as never)).result);
}

/** Processes of trainings; that of one which learns comes before those that roll out. */
async function listOwn(): Promise<number[]> {
  return (await childPids(process.pid)).filter((pid) => !residents.includes(pid));
}

/** Result of a training without its durations. */
function found({ curve, best, generations, artifacts, throughput: { steps } }: TrainingResult) {
  return { curve, best, generations, artifacts, steps };
}

describe("a training", () => {
  let alone: TrainingResult;
  beforeAll(async () => {
    alone = await train({ backend: "wgsl" });
  }, TIMEOUT_MS);

  test(
    "that two devices share ends like one device's, to the bit, and says what each did",
    async () => {
      const shared = await train({ devices: "all" });
      expect(found(shared)).toEqual(found(alone));
      const { devices = [], steps } = shared.throughput;
      expect(devices.map(({ deviceKey }) => deviceKey)).toEqual(["gpu0", "gpu1"]);
      expect(devices.reduce((sum, each) => sum + each.steps, 0)).toBe(steps);
      expect(devices.every(({ stepsPerSecond }) => stepsPerSecond > 0)).toBe(true);
      expect(shared.faults).toBeUndefined();
    },
    TIMEOUT_MS,
  );

  test(
    "bears the loss of any of its processes, tells each, and counts no work that was discarded",
    async () => {
      let own: Promise<number[]> | null = null;
      let due = 2;
      let killed = 0;
      // Its three processes: two that roll out, and the one that learns, once it has left a checkpoint.
      const kill = async (pids: Promise<number[]>, place: number) => {
        const [learner, ...others] = await pids;
        if (process.kill([...others, learner!][place]!, "SIGKILL")) killed++;
      };
      const shared = await train({ devices: "all" }, ({ done }) => {
        own ??= listOwn();
        if (done < due || due > 8) return;
        void kill(own, (due - 2) / 3);
        due += 3;
      });
      expect(found(shared)).toEqual(found(alone));
      expect(killed).toBe(3);
      const elsewhere = ["device-lost", "retried-elsewhere"];
      const faults = shared.faults?.map(({ code, action }) => [code, action]);
      expect(faults).toEqual([elsewhere, elsewhere, ["device-lost", "retried"]]);
      const { devices = [], steps } = shared.throughput;
      expect(devices.reduce((sum, each) => sum + each.steps, 0)).toBe(steps);
    },
    TIMEOUT_MS,
  );

  test(
    "that loses the process which learns before a checkpoint fails, and leaves no process behind",
    async () => {
      let killed = false;
      const large = { algorithm: { name: "sep-cma-es", population: 64 }, episodes: 64, checkpointMs: 60_000 };
      const training = train({ devices: "all", ...large }, async () => {
        if (killed) return;
        killed = true;
        const [learner] = await listOwn();
        process.kill(learner!, "SIGKILL");
      });
      await expect(training).rejects.toMatchObject({ problem: { code: "device-lost" } });
      await expect.poll(listOwn).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

test("a process that is held apart is closed for good once the work has ended", { timeout: TIMEOUT_MS }, async () => {
  const { host } = fleet.all().find(({ host: { device } }) => device.key === "gpu0")!;
  const limits = { limitMs: TIMEOUT_MS, limitCode: "kernel-timeout" } as const;
  const [again, ended] = await host.holdApart(async (open, signal) => {
    const apart = open();
    const call = () => apart.call("describe", { deviceKey: "gpu0" }, limits, "device-lost");
    // Calls that come while it starts share it.
    await Promise.all([call(), call()]);
    expect(await listOwn()).toHaveLength(1);
    return [call, signal];
  });
  expect(ended.aborted).toBe(true);
  await expect(again()).rejects.toMatchObject({ problem: { code: "cancelled" } });
  expect(await listOwn()).toEqual([]);
});

test(
  "two that share the same devices wait for each other",
  async () => {
    const [one, two] = await Promise.all([
      train({ devices: ["gpu0", "gpu1"], generations: 2 }),
      train({ devices: ["gpu1", "gpu0"], generations: 2 }),
    ]);
    expect(found(one)).toEqual(found(two));
  },
  TIMEOUT_MS,
);
