import { describe, expect, it } from "vitest";
import type { EdgeProbe } from "../../../../../src/gpu-runner/link/edge-probe.ts";
import { calibrateEdge, timeOnce } from "../../../../../src/gpu-runner/kinds/calibration/calibrate-edge.ts";
import type { WorkloadContext } from "../../../../../src/gpu-runner/kinds/kind.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import type { PlacedModel } from "../../../../../src/protocol/link.ts";
import { createSeededInputs } from "../../../../../src/protocol/models/model-inputs.ts";
import { withRows } from "../../../../../src/protocol/models/edge-place.ts";
import { type Tensor, typedView } from "../../../../../src/protocol/wire/tensor.ts";
import { capabilities } from "../../../../edge/stack/samples.ts";

const spec = (name: string, shape: number[]) => ({ name, dtype: "float32" as const, shape });
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: `sha256:${"0".repeat(64)}` }],
  inputs: [spec("x", [-1, 3])],
  outputs: [spec("y", [-1, 3])],
};
const WAY_MS = 5;
const ECHO_MS = 2;
const EFFORT = { echoMs: ECHO_MS, iterations: 300 };
const BARE_MS = 2.5;
const LOAD_MS = 40;
const ROW_MS = 0.002;

/** The network returns its input; the edge does so after `distort`, with the times written above. */
function scriptContext(distort: (values: Float32Array, variant: string) => void, rowProducts = 100) {
  const runs: { rows: number; repetitions: number }[] = [];
  const answer = (inputs: readonly Tensor[]) =>
    inputs.map(({ shape, bytes }): Tensor => ({ name: "y", dtype: "float32", shape, bytes: bytes.slice() }));
  const edgeProbe: EdgeProbe = {
    run: async ({ seed = 0, rows = 1, repetitions = 1, variant = "fp32", fresh = false }) => {
      const outputs = answer(createSeededInputs(withRows(model.inputs, rows), seed));
      for (const output of outputs) distort(typedView(output) as Float32Array, variant);
      runs.push({ rows, repetitions });
      const durationMs = WAY_MS + (fresh ? LOAD_MS : 0) + repetitions * rows * ROW_MS;
      return { outputs, sizeBytes: 65_536, rowProducts, durationMs };
    },
    measureMs: async (count) => Array<number>(count).fill(BARE_MS),
  };
  const host = {
    device: capabilities.devices[0],
    infer: async (_: string, inputs: Tensor[]) => ({ tensors: answer(inputs) }),
  };
  const context = {
    fleet: { cpu: { host } },
    models: {
      tryApart: async () => {},
      borrow: async () => ({ modelKey: "edge", loadMs: 1, joins: true, release: async () => {} }),
    },
    residency: { read: async () => new Uint8Array() },
    edgeProbe,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  } as unknown as WorkloadContext;
  return { context, runs };
}

describe("a calibration of the edge", () => {
  it("finds the time of one computation whatever the way takes, and what lies around it", async () => {
    const { context, runs } = scriptContext(() => {});
    const [placement, ...further] = await calibrateEdge(model, { variants: ["fp32"] }, EFFORT, context);
    expect(further).toEqual([]);
    expect(placement).toMatchObject({ backend: "edge-wasm", deviceKey: "edge", agrees: true, fidelity: 1 });
    expect(placement?.memory).toEqual({ baseBytes: 65_536, bytesPerRow: 0 });
    expect(placement?.loadMs).toBeCloseTo(LOAD_MS, 6);
    expect(placement?.linkMs?.p50).toBeCloseTo(BARE_MS - ECHO_MS, 6);
    expect(placement?.sweep.map(({ rows }) => rows)).toEqual([1, 8, LIMITS.edgeRows]);
    for (const { rows, serviceMs } of placement!.sweep) expect(serviceMs.mean).toBeCloseTo(rows * ROW_MS, 6);
    for (const { rows, repetitions } of runs) {
      expect(repetitions).toBeLessThanOrEqual(LIMITS.edgeRepetitions);
      expect(100 * rows * repetitions).toBeLessThanOrEqual(LIMITS.edgeRunProducts);
    }
  });

  it("asks no more of a large network than the edge takes, and one row where there is no other", async () => {
    const rowProducts = LIMITS.edgeParameters;
    const { context, runs } = scriptContext(() => {}, rowProducts);
    const fixed = { ...model, inputs: [spec("x", [2, 3])] };
    const [placement] = await calibrateEdge(fixed, { variants: ["fp32"] }, EFFORT, context);
    expect(placement?.sweep.map(({ rows }) => rows)).toEqual([1]);
    const most = Math.max(...runs.map(({ repetitions }) => repetitions));
    expect(2 * most * rowProducts).toBeLessThanOrEqual(LIMITS.edgeRunProducts);
  });

  it("takes as few samples as the calibration has iterations, and thirty at most", async () => {
    for (const [iterations, samples] of [
      [10, 10],
      [300, 30],
    ] as const) {
      const { context } = scriptContext(() => {});
      const effort = { ...EFFORT, iterations };
      const [placement] = await calibrateEdge(model, { variants: ["fp32"] }, effort, context);
      expect(placement?.sweep.map(({ serviceMs }) => serviceMs.count)).toEqual([samples, samples, samples]);
    }
  });

  it("fails float32 that differs, and lets bytes differ by a little", async () => {
    const work = { variants: ["fp32" as const, "edge-int8" as const] };
    const slightly = scriptContext((values) => values.forEach((value, i) => (values[i] = value * 1.02)));
    const placements = await calibrateEdge(model, work, EFFORT, slightly.context);
    expect(placements.map(({ variant, agrees }) => [variant, agrees])).toEqual([
      ["fp32", false],
      ["edge-int8", true],
    ]);
    const wrong = scriptContext((values) => values.fill(0));
    for (const { agrees } of await calibrateEdge(model, work, EFFORT, wrong.context)) expect(agrees).toBe(false);
  });

  it("reports how often bytes lead to the same answer", async () => {
    let call = 0;
    const swapping = scriptContext((values, variant) => {
      // Every other comparison another element is the largest, by a hair.
      if (variant === "edge-int8" && call++ % 2 === 0) values[values.indexOf(Math.min(...values))] = 1.0001;
    });
    const [placement] = await calibrateEdge(model, { variants: ["edge-int8"] }, EFFORT, swapping.context);
    expect(placement?.fidelity).toBeGreaterThan(0);
    expect(placement?.fidelity).toBeLessThan(1);
  });
});

describe("the time of one computation", () => {
  it("is never below nought, however long a request took that computed once", async () => {
    const samples = await timeOnce(async (_seed, repetitions) => (repetitions === 1 ? 50 : 20), 64, 10);
    expect(new Set(samples)).toEqual(new Set([0]));
  });

  it("is measured with as few repetitions as separate it from the way", async () => {
    const asked: number[] = [];
    await timeOnce(
      async (_seed, repetitions) => {
        asked.push(repetitions);
        return 3 + repetitions * 4;
      },
      1_000,
      10,
    );
    expect(Math.max(...asked)).toBe(4);
  });
});
