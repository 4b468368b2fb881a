import { afterEach, describe, expect, it, vi } from "vitest";
import type { ModelLoader } from "../../../../../src/gpu-runner/serving/model-loader.ts";
import { runCalibration } from "../../../../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import type { WorkloadContext } from "../../../../../src/gpu-runner/kinds/kind.ts";
import { CalibrationResult, CalibrationSpec } from "../../../../../src/protocol/jobs/calibration.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../../../../src/protocol/link.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";
import { capabilities } from "../../../../edge/stack/samples.ts";

const float = (name: string) => ({ name, dtype: "float32" as const, shape: [-1, 2] });
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [float("x")],
  outputs: [float("y")],
};
const spec = CalibrationSpec.parse({
  kind: "calibration",
  modelVersionId: model.modelVersionId,
  iterations: 10,
  maxRows: 1,
  timeoutMs: 10_000,
});
const SERVICE = { uploadMs: 1, computeMs: 2, readbackMs: 3 };

/** A device's behaviour for a request, beside returning its input. */
interface Script {
  /** Before each computation. */
  readonly compute?: () => void;
  /** Before each request of the queue. */
  readonly enter?: () => void;
}

const borrow: ModelLoader["borrow"] = async () => ({
  modelKey: `${model.modelVersionId}/fp32`,
  loadMs: 1,
  joins: true,
  release: async () => {},
});

interface Scripts {
  readonly cpu?: Script;
  readonly gpu?: Script;
  readonly models?: Partial<ModelLoader>;
}

/** The CPU and a GPU that answer alike; waiting lasts a second. */
function scriptContext({ cpu = {}, gpu = {}, models = {} }: Scripts) {
  const answer = ([x]: readonly Tensor[]) => [{ ...x!, name: "y" }];
  const devices = [cpu, gpu].map(({ compute, enter }, index) => ({
    host: {
      device: { ...capabilities.devices[0], key: index === 0 ? "cpu" : "gpu0" },
      infer: async (_: string, tensors: readonly Tensor[]) => {
        compute?.();
        return { tensors: answer(tensors), times: SERVICE };
      },
      measureMemory: async () => {
        throw new ProblemError("backend-failed", "It cannot be measured.");
      },
    },
    server: {
      serve: async (_: object, tensors: readonly Tensor[]) => {
        enter?.();
        return { tensors: answer(tensors), times: { queueMs: 1_000, ...SERVICE }, rows: 1, backlogMs: 0 };
      },
    },
  }));
  return {
    fleet: { all: () => devices, cpu: devices[0] },
    models: { tryApart: async () => {}, adopt: async () => {}, unload: async () => {}, borrow, ...models },
    probe: { measureMs: async (count: number) => Array<number>(count).fill(0.1) },
    model,
    edge: null,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  } as unknown as WorkloadContext;
}

async function calibrate(script: Scripts) {
  const { result } = await runCalibration(spec, scriptContext(script));
  return CalibrationResult.parse(result);
}

afterEach(() => void vi.useRealTimers());

describe("a calibration", () => {
  it("counts what a request takes without what it waits for", async () => {
    const { placements, skipped } = await calibrate({});
    expect(skipped).toBeUndefined();
    expect(placements).toMatchObject(
      ["cpu", "gpu0"].map((deviceKey) => ({ deviceKey, agrees: true, sweep: [{ rows: 1, serviceMs: { max: 6 } }] })),
    );
  });

  it("asks a queue again that has no room for it", async () => {
    let refusals = 0;
    const enter = () => {
      if (refusals++ < 3) throw new ProblemError("overloaded", "Full.", { retryAfterMs: 1 });
    };
    const { placements, skipped } = await calibrate({ gpu: { enter } });
    expect([placements.length, skipped, refusals > 3]).toEqual([2, undefined, true]);
  });

  it("leaves out a device that fails", async () => {
    const compute = () => {
      throw new ProblemError("out-of-memory", "It is full.");
    };
    const { placements, skipped } = await calibrate({ gpu: { compute } });
    expect(placements.map(({ deviceKey }) => deviceKey)).toEqual(["cpu"]);
    expect(skipped).toMatchObject([{ deviceKey: "gpu0", problem: { code: "out-of-memory" } }]);
  });

  it("loads nothing where it serves that failed by itself", async () => {
    const borrowed: string[] = [];
    const models: Partial<ModelLoader> = {
      tryApart: async (_model, _variant, host) => {
        if (host.device.key === "gpu0") throw new ProblemError("backend-failed", "It crashes.");
      },
      borrow: (...place) => {
        borrowed.push(place[2].device.key);
        return borrow(...place);
      },
    };
    const { placements, skipped } = await calibrate({ models });
    expect(placements.map(({ deviceKey }) => deviceKey)).toEqual(["cpu"]);
    expect(skipped).toMatchObject([{ deviceKey: "gpu0", problem: { detail: "It crashes." } }]);
    expect(new Set(borrowed)).toEqual(new Set(["cpu"]));
  });

  it("leaves out what its time does not suffice for, and keeps what is done", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const slow = { compute: () => void vi.advanceTimersByTime(1_000) };
    const { placements, skipped } = await calibrate({ gpu: slow });
    expect(placements.map(({ deviceKey }) => deviceKey)).toEqual(["cpu"]);
    expect(skipped).toMatchObject([{ deviceKey: "gpu0", problem: { code: "backend-failed" } }]);
    expect(skipped?.[0]?.problem.detail).toContain("longer than 10000 ms");
  });

  it("fails where its time does not suffice for anything", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const slow = { compute: () => void vi.advanceTimersByTime(20_000) };
    const failed = calibrate({ cpu: slow, gpu: slow });
    await expect(failed).rejects.toMatchObject({ problem: { code: "backend-failed" } });
  });
});
