import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cartpole } from "../../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { countParameters } from "../../../../../kernels/rollout/policy-layout.ts";
import { readFileSignature } from "../../../edge/models/read-file-signature.ts";
import type { WorkOptions } from "../../../../../src/gpu-runner/device-host/device-host.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../../../../src/gpu-runner/training/checkpoint-file.ts";
import { runTrain, type TrainRequest } from "../../../../../src/gpu-runner/training/train-call.ts";
import { runTraining } from "../../../../../src/gpu-runner/kinds/training/run-training.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import { TrainingResult, TrainingSpec } from "../../../../../src/protocol/jobs/training.ts";
import { capabilities } from "../../../../edge/stack/samples.ts";
import { createArrayPopulation } from "../../training/array-population.ts";

const SPEC = {
  kind: "training",
  environment: "cartpole",
  network: { kind: "mlp", hidden: [], activation: "none" },
  algorithm: { name: "sep-cma-es", population: 8 },
  generations: 12,
  episodes: 2,
  evaluation: { everyGenerations: 4, episodes: 10 },
  backend: "wgsl",
};

type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** Number of checkpoints after which each process dies, in turn. */
type Deaths = readonly number[];

/** A device that trains in this process, on a bowl, with a checkpoint after every generation. */
function openDevice(deaths: Deaths, requests: TrainRequest[]) {
  const workApart = async (_: string, input: TrainRequest, __: number, ___: string, options: WorkOptions) => {
    const dies = deaths[requests.length] ?? Number.POSITIVE_INFINITY;
    requests.push(input);
    let left = 0;
    const died = new ProblemError("device-lost", "it died");
    return runTrain(
      async ({ environment, network, members }) => {
        if (dies === 0) throw died;
        const parameters = countParameters(network, environment);
        return createArrayPopulation(members, parameters, (row) => -row.reduce((sum, x) => sum + (x - 1) ** 2, 0))
          .population;
      },
      { ...input, plan: { ...input.plan, checkpointMs: 0 } },
      {
        signal: options.signal!,
        onProgress: options.onProgress!,
        onRollOut: () => expect.unreachable(),
        onCheckpoint: (file) => {
          options.onCheckpoint!(file);
          if (++left >= dies) throw died;
        },
      },
    );
  };
  return { host: { device: capabilities.devices[1], workApart } };
}

interface Options {
  readonly files?: Files;
  readonly deaths?: Deaths;
  readonly put?: (name: string) => Promise<void>;
}

async function train(changes: object = {}, { files = new Map(), deaths = [], put = async () => {} }: Options = {}) {
  const requests: TrainRequest[] = [];
  const device = openDevice(deaths, requests);
  const errors: string[] = [];
  const context = {
    fleet: { use: (_: unknown, work: () => Promise<unknown>) => work() },
    backends: { choose: async () => ({ backend: "wgsl", device, chosenFrom: [] }) },
    environment: null,
    userKernels: false,
    artifacts: {
      put: async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
        await put(name);
        files.set(name, bytes);
        const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
        return { name, digest, sizeBytes: bytes.length, mediaType: "application/octet-stream" };
      },
      get: async (name: string) => files.get(name) ?? null,
    },
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
    logger: { error: (_: unknown, message: string) => errors.push(message) },
  };
  const { result } = await runTraining(TrainingSpec.parse({ ...SPEC, ...changes }), context as never);
  return { result: TrainingResult.parse(result), files, requests, errors };
}

/** Result of a training without its durations. */
function found({ curve, best, generations, artifacts, throughput }: TrainingResult) {
  return { curve, best, generations, artifacts, steps: throughput.steps };
}

describe("runTraining", () => {
  it("leaves the best policy as a model that takes observations and gives logits", async () => {
    const { result, files } = await train();
    expect(result.artifacts).toEqual([expect.objectContaining({ name: "policy" })]);
    expect(readFileSignature(files.get("policy")!)).toMatchObject({
      ok: true,
      inputs: [{ name: "observation", shape: [-1, 4] }],
      outputs: [{ name: "logits", shape: [-1, 2] }],
    });
    expect(result).toMatchObject({ task: { name: "cartpole", digest: expect.stringMatching(/^sha256:/) } });
    expect(result.best).toMatchObject({ episodes: 10, seed: 1 });
  });

  it("goes on in another process where one died and had left a newer checkpoint, to the same end", async () => {
    const { result: whole } = await train();
    const { result, requests } = await train({}, { deaths: [3, 2] });
    expect(requests.map(({ checkpoint }) => checkpoint && decodeCheckpoint(checkpoint).state.generations)).toEqual([
      null,
      3,
      5,
    ]);
    expect(result.resumedFrom).toBe(5);
    expect(found(result)).toEqual(found(whole));
  });

  it.each([
    ["the first process", [0]],
    ["a later one", [3, 0]],
  ])("fails where %s dies without one, so that the job is offered again", async (_, deaths) => {
    await expect(train({}, { deaths })).rejects.toMatchObject({ problem: { code: "device-lost" } });
  });

  it("goes on from what an earlier attempt left at the edge", async () => {
    const files: Files = new Map();
    await expect(train({}, { files, deaths: [7, 0] })).rejects.toThrow(ProblemError);
    const { result } = await train({}, { files });
    expect(result.resumedFrom).toBe(7);
    expect(found(result)).toEqual(found((await train()).result));
  });

  it.each([
    ["cannot be read", () => new Uint8Array(100), "cannot be read"],
    ["is of another environment", asOfAnother, "of another environment"],
  ])("begins anew where the checkpoint %s", async (_, spoil, message) => {
    const files: Files = new Map();
    await train({ generations: 5 }, { files });
    files.set("checkpoint", spoil(files.get("checkpoint")!));
    const { result, errors } = await train({}, { files });
    expect(result.resumedFrom).toBeNull();
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  it("bears that checkpoints cannot be kept", async () => {
    const put = async (name: string) => {
      if (name === "checkpoint") throw new ProblemError("payload-too-large", "it is too large");
    };
    const { result, errors } = await train({}, { put });
    expect(result.generations).toBe(12);
    expect(errors[0]).toContain("could not be kept");
  });

  it("asks for the model that it is published as, which the edge makes a version", async () => {
    const { result } = await train({ publish: { model: "balancer" } });
    expect(result.published).toEqual({ model: "balancer", modelVersionId: null });
  });

  it("refuses an environment that is gone", async () => {
    await expect(train({ environment: "nowhere" })).rejects.toMatchObject({ problem: { code: "not-found" } });
  });
});

function asOfAnother(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return encodeCheckpoint({ ...decodeCheckpoint(file), environmentDigest: `${cartpole.name} as it was` });
}
