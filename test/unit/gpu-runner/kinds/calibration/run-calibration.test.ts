import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ModelLoader } from "../../../../../src/gpu-runner/serving/model-loader.ts";
import { runCalibration } from "../../../../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import type { WorkloadContext } from "../../../../../src/gpu-runner/kinds/kind.ts";
import { CalibrationResult, CalibrationSpec } from "../../../../../src/protocol/jobs/calibration.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../../../../src/protocol/link.ts";
import { createSeededInputs } from "../../../../../src/protocol/models/model-inputs.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";
import { writeExternalModel } from "../../../../edge/stack/external-model.ts";
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
  timeoutMs: 600_000,
});
const SERVICE = { uploadMs: 1, computeMs: 2, readbackMs: 3 };

/** A device's behaviour for a request, beside returning its input. */
interface Script {
  /** Before each computation. */
  readonly compute?: () => void;
  /** Before each request of the queue. */
  readonly enter?: () => void;
  /** Its backend, and what it makes of each number, where it is not the CPU provider. */
  readonly wgsl?: (value: number) => number;
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
  readonly inputs?: PlacedModel["inputs"];
}

/** The CPU and a GPU that answer alike; waiting lasts a second. */
function scriptContext({ cpu = {}, gpu = {}, models = {}, inputs = model.inputs }: Scripts) {
  const devices = [cpu, gpu].map(({ compute, enter, wgsl }, index) => {
    const answer = ([x]: readonly Tensor[]) => [{ ...x!, name: "y", ...(wgsl && { bytes: mapFloats(x!, wgsl) }) }];
    const backend = wgsl && { backends: ["wgsl"], servesModels: true };
    return {
      host: {
        device: { ...capabilities.devices[0], ...backend, key: index === 0 ? "cpu" : "gpu0" },
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
    };
  });
  return {
    fleet: { all: () => devices, cpu: devices[0] },
    models: { tryApart: async () => null, adopt: async () => {}, unload: async () => {}, borrow, ...models },
    residency: { read: async () => new Uint8Array() },
    probe: { measureMs: async (count: number) => Array<number>(count).fill(0.1) },
    model: { ...model, inputs },
    edge: null,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  } as unknown as WorkloadContext;
}

function mapFloats({ bytes }: Tensor, change: (value: number) => number): Uint8Array {
  return new Uint8Array(new Float32Array(bytes.slice().buffer).map(change).buffer);
}

async function calibrate(script: Scripts, changes: Partial<CalibrationSpec> = {}) {
  const { result } = await runCalibration({ ...spec, ...changes }, scriptContext(script));
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

  it("asks our own kernels for NaN, infinities, negative and large numbers", async () => {
    const agreement = async (wgsl: (value: number) => number) => {
      const { placements } = await calibrate({ gpu: { wgsl } });
      return placements[1]?.agrees;
    };
    expect(await agreement((value) => value)).toBe(true);
    expect(await agreement((value) => (Number.isNaN(value) ? 0 : value))).toBe(false);
    expect(await agreement((value) => Math.min(value, 3e38))).toBe(false);
    expect(await agreement((value) => Math.abs(value))).toBe(false);
    expect(await agreement((value) => Math.min(value, 100))).toBe(false);
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
        return null;
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
    const { placements, skipped } = await calibrate({ gpu: slow }, { timeoutMs: 10_000 });
    expect(placements.map(({ deviceKey }) => deviceKey)).toEqual(["cpu"]);
    expect(skipped).toMatchObject([{ deviceKey: "gpu0", problem: { code: "backend-failed" } }]);
    expect(skipped?.[0]?.problem.detail).toContain("longer than 10000 ms");
  });

  it("fails where its time does not suffice for anything", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const slow = { compute: () => void vi.advanceTimersByTime(20_000) };
    const failed = calibrate({ cpu: slow, gpu: slow }, { timeoutMs: 10_000 });
    await expect(failed).rejects.toMatchObject({ problem: { code: "backend-failed" } });
  });
});

describe("a network with free sizes beyond its rows", () => {
  const picture = { name: "x", dtype: "float32" as const, shape: [-1, 3, -1, -1] };
  /** Takes multiples of a stride, as a network with skip connections does, up to a size. */
  const takes = (stride: number, most: number): Pick<ModelLoader, "tryApart"> => ({
    tryApart: async ({ inputs }) => {
      const [, , height = 1] = createSeededInputs(inputs, 1)[0]?.shape ?? [];
      if (height % stride !== 0 || height > most)
        throw new ProblemError("backend-failed", `It does not take ${height}.`);
      return null;
    },
  });
  const shapesAt = (...sizes: number[]) => ({ x: sizes.map((size) => [1, 3, size, size]) });

  it.each([
    ["any", 1, 1_000, [32, 64]],
    ["multiples of 224", 224, 224, [224]],
    ["multiples of 32", 32, 1_000, [32, 64]],
    ["multiples of 16 up to 32", 16, 32, [32]],
  ])("is measured at sizes that it takes: %s", async (_, stride, most, sizes) => {
    const { placements, shapes } = await calibrate({ models: takes(stride, most), inputs: [picture] });
    expect(shapes).toEqual(shapesAt(...sizes));
    const further = sizes.slice(1).map((size) => ({ elements: 3 * size ** 2, sweep: [{ rows: 1 }] }));
    expect(placements[0]?.sizes ?? []).toMatchObject(further);
  });

  it("may have its rows elsewhere than on the first axis of a state", async () => {
    const state = { name: "state", dtype: "float32" as const, shape: [2, -1, 8] };
    const signal = { name: "x", dtype: "float32" as const, shape: [-1, -1] };
    const tryApart = async ({ inputs }: PlacedModel) => {
      const rows = createSeededInputs(inputs, 1)[1]?.shape[1];
      if (rows !== 1) throw new ProblemError("backend-failed", `It does not take ${rows} rows.`);
      return null;
    };
    const { shapes } = await calibrate({ models: { tryApart }, inputs: [signal, state] });
    expect(shapes).toEqual({
      x: [
        [1, 32],
        [1, 64],
      ],
    });
  });

  it("is measured at the shapes that its version has, without a search", async () => {
    const models = { tryApart: vi.fn<ModelLoader["tryApart"]>(async () => null) };
    const shapes = [
      [1, 3, 8, 8],
      [1, 3, 16, 16],
      [1, 3, 24, 8],
    ];
    const { placements, shapes: found } = await calibrate({ models, inputs: [{ ...picture, shapes }] });
    expect(found).toBeUndefined();
    expect(placements[0]?.sizes?.map(({ elements }) => elements)).toEqual([3 * 256, 3 * 192]);
    for (const [tried] of models.tryApart.mock.calls) expect(tried.inputs).toEqual([{ ...picture, shapes }]);
  });

  it("is asked for NaN once, and not at each size", async () => {
    let asked = 0;
    const wgsl = (value: number) => {
      if (Number.isNaN(value)) asked++;
      return value;
    };
    const shapes = [
      [1, 3, 8, 8],
      [1, 3, 16, 16],
    ];
    const { placements } = await calibrate({ gpu: { wgsl }, inputs: [{ ...picture, shapes }] });
    expect(placements[1]?.sizes).toHaveLength(1);
    expect(asked).toBe(1);
  });

  it("fails where it takes none, with the reason and what to give", async () => {
    const failing = calibrate({ models: takes(1_000, 1_000), inputs: [picture] });
    await expect(failing).rejects.toThrow(/give `shapes` and `values`.*It does not take 1\./);
  });

  it("does not try further where a size does harm", async () => {
    const tryApart = vi.fn<ModelLoader["tryApart"]>(async () => {
      throw new ProblemError("out-of-memory", "It is full.");
    });
    await expect(calibrate({ models: { tryApart }, inputs: [picture] })).rejects.toThrow("It is full.");
    expect(tryApart).toHaveBeenCalledTimes(1);
  });
});

describe("a model in several files", () => {
  it("is calibrated by their paths, within the tolerance of how it rounds", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-calibration-"));
    try {
      const [own, data] = [join(folder, "own"), join(folder, "data")];
      const files = ["model.onnx", "w.bin"].map((name) => ({ name, digest: `sha256:${name}`, sizeBytes: 16 }));
      await writeFile(data, new Uint8Array(16));
      const agreesFor = async (operators: readonly string[]) => {
        const nodes = operators.map((operator) => ({
          name: "",
          domain: "",
          operator,
          attributes: new Map(),
          ...(operator === "MatMul"
            ? { inputs: ["x", "w"], outputs: ["y"] }
            : { inputs: ["x"], outputs: ["q", "s", "z"] }),
        }));
        const external = { location: "w.bin", length: "16" };
        await writeFile(own, writeExternalModel([{ name: "w", dims: [2, 2], external }], nodes));
        const context = scriptContext({ gpu: { wgsl: (value) => value * 1.02 } });
        const read = async (digest: string, wanted?: readonly object[]) => {
          if (wanted !== files) throw new ProblemError("backend-failed", `The edge has no artifact ${digest}.`);
          return { own, data: { "w.bin": data } };
        };
        const { result } = await runCalibration(spec, {
          ...context,
          residency: { read },
          model: { ...model, variants: [{ ...model.variants[0]!, files }] },
        } as unknown as WorkloadContext);
        return CalibrationResult.parse(result).placements.map(({ agrees }) => agrees);
      };
      expect(await agreesFor(["MatMul"])).toEqual([true, false]);
      expect(await agreesFor(["MatMul", "DynamicQuantizeLinear"])).toEqual([true, true]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
