import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import type { JobArtifacts } from "../../../src/gpu-runner/link/artifacts.ts";
import { BackendChoices } from "../../../src/gpu-runner/kinds/steps/choose-backend.ts";
import { runTraining } from "../../../src/gpu-runner/kinds/training/run-training.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { TrainingResult, TrainingSpec } from "../../../src/protocol/jobs/training.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { childPids } from "../child-pids.ts";

const TIMEOUT_MS = 300_000;

let fleet: DeviceFleet;
let residents: readonly number[];
beforeAll(async () => {
  const config = readConfig({ MILLRACE_RUNNER_DIR: CACHE_DIR, MILLRACE_GPU: "software" });
  fleet = await DeviceFleet.start(config, pino({ level: "silent" }));
  residents = await childPids(process.pid);
}, TIMEOUT_MS);
afterAll(() => fleet.stop());

/** Files of a job without an edge; `onPut` is called for each. */
function openFiles(onPut: (name: string) => void): JobArtifacts {
  return {
    put: async (name, bytes) => {
      onPut(name);
      const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      return { name, digest, sizeBytes: bytes.length, mediaType: "application/octet-stream" };
    },
    get: async () => null,
  };
}

const SMALL = {
  kind: "training",
  environment: "cartpole",
  network: { kind: "mlp", hidden: [4] },
  algorithm: { name: "sep-cma-es", population: 8 },
  generations: 30,
  episodes: 2,
  evaluation: { everyGenerations: 10, episodes: 20 },
  seed: 5,
  checkpointMs: 100,
  backend: "wgsl",
};

async function train(
  onPut: (name: string) => void,
  options: { readonly onProgress?: (progress: JobProgress) => void } = {},
): Promise<TrainingResult> {
  const context = {
    fleet,
    backends: new BackendChoices(fleet),
    environment: null,
    userKernels: false,
    artifacts: openFiles(onPut),
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
    logger: pino({ level: "silent" }),
    ...options,
  };
  const { result } = await runTraining(TrainingSpec.parse(SMALL), context as never);
  return TrainingResult.parse(result);
}

/** Result of a training without its durations. */
function found({ curve, best, generations, solvedAtGeneration, artifacts, throughput }: TrainingResult) {
  return { curve, best, generations, solvedAtGeneration, artifacts, steps: throughput.steps };
}

async function killTrainer(): Promise<void> {
  const pid = (await childPids(process.pid)).find((child) => !residents.includes(child));
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

describe("a training", () => {
  let whole: TrainingResult;
  const heard: JobProgress[] = [];
  beforeAll(async () => {
    whole = await train(() => {}, { onProgress: (progress) => heard.push(progress) });
  }, TIMEOUT_MS);

  test("ends with its curve, its policy's file and its fresh score", () => {
    expect(whole).toMatchObject({ generations: 30, resumedFrom: null, published: null });
    expect(whole.curve.map(({ generation }) => generation)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    expect(whole.best.mean.low).toBeLessThanOrEqual(whole.best.mean.value);
    expect(whole.best.episodes).toBe(20);
    expect(whole.artifacts).toEqual([expect.objectContaining({ name: "policy" })]);
    expect(whole.throughput).toMatchObject({ backend: "wgsl", evaluations: 30 * 8 * 2, members: 8, parameters: 30 });
    expect(whole.throughput.steps).toBe(whole.curve.at(-1)!.steps);
  });

  test("reports generations as they come", () => {
    // Some may follow each other too closely; the first and the last are always reported.
    const told = heard.map(({ done }) => done);
    expect(told.length).toBeGreaterThan(5);
    expect([told[0], told.at(-1)]).toEqual([1, 30]);
    expect(heard.map(({ phase, total }) => [phase, total])).toEqual(told.map(() => ["training", 30]));
    expect(heard.map(({ point }) => point)).toEqual(told.map((generation) => whole.curve[generation - 1]));
  });

  test(
    "whose process is killed goes on from its last checkpoint to the same end, to the bit",
    async () => {
      let checkpoints = 0;
      const resumed = await train((name) => {
        if (name === "checkpoint" && checkpoints++ === 0) void killTrainer();
      });
      expect(checkpoints).toBeGreaterThan(0);
      expect(resumed.resumedFrom).toBeGreaterThan(0);
      expect(found(resumed)).toEqual(found(whole));
    },
    TIMEOUT_MS,
  );
});
