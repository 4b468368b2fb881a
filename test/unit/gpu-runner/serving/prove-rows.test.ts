import { describe, expect, it, vi } from "vitest";
import type { InferenceBackend } from "../../../../src/gpu-runner/serving/queue/inference-server.ts";
import { proveRows } from "../../../../src/gpu-runner/serving/prove-rows.ts";
import type { TensorSpec } from "../../../../src/protocol/models/model.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../../../src/protocol/wire/tensor.ts";

const spec = (shape: number[]): TensorSpec => ({ name: "x", dtype: "float32", shape });
const rows = { inputs: [spec([-1, 2])], outputs: [spec([-1, 2])] };
const warn = vi.fn<(...about: unknown[]) => void>();
const prove = (modelKey: string, model: Parameters<typeof proveRows>[1], backend: InferenceBackend) =>
  proveRows(modelKey, model, backend, { warn });
const times = { uploadMs: 0, computeMs: 0, readbackMs: 0 };

/** A network that maps all its numbers at once. */
function compute(map: (values: number[]) => number[]) {
  const calls: (readonly Tensor[])[] = [];
  const infer: InferenceBackend["infer"] = async (_, tensors) => {
    calls.push(tensors);
    const [{ name, dtype, shape }] = tensors as [Tensor];
    const values = map(Array.from(typedView(tensors[0]!), Number));
    return { tensors: [{ name, dtype, shape, bytes: new Uint8Array(Float32Array.from(values).buffer) }], times };
  };
  return { infer, calls };
}

describe("requests may share a batch", () => {
  it("where each row is computed by itself", async () => {
    const backend = compute((values) => values.map((value) => value * 2));
    expect(await prove("m", rows, backend)).toBe(true);
    expect(backend.calls.map(([input]) => input?.shape)).toEqual([...Array.from({ length: 5 }, () => [1, 2]), [5, 2]]);
  });

  it("but not where rows change each other's answers", async () => {
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    expect(
      await prove(
        "m",
        rows,
        compute((values) => values.map((value) => value / sum(values))),
      ),
    ).toBe(false);
  });

  it.each<[string, (values: number[]) => boolean]>([
    ["their sign", (values) => values.reduce((sum, value) => sum + value, 0) > 0],
    ["their size", (values) => Math.max(...values.map(Math.abs)) > 10],
  ])("nor where all rows together take a branch by %s", async (_, condition) => {
    const map = (values: number[]) => values.map((value) => (condition(values) ? value : -value));
    expect(await prove("m", rows, compute(map))).toBe(false);
  });

  it("nor where whole numbers decide it", async () => {
    const whole: TensorSpec = { name: "x", dtype: "int32", shape: [-1, 2] };
    const infer: InferenceBackend["infer"] = async (_, [tensor]) => {
      const values = Array.from(typedView(tensor!), Number);
      const sign = Math.min(...values) === 0 ? 1 : -1;
      const answer = Float32Array.from(values, (value) => sign * (value + 1));
      return { tensors: [{ ...tensor!, dtype: "float32", bytes: new Uint8Array(answer.buffer) }], times };
    };
    expect(await prove("m", { ...rows, inputs: [whole] }, { infer })).toBe(false);
  });

  it("although a row overflows by itself", async () => {
    const square = compute((values) => values.map((value) => Math.exp(4 * Math.abs(value))));
    expect(await prove("m", rows, square)).toBe(true);
  });

  it("nor where the model has none, which is warmed all the same", async () => {
    const backend = compute((values) => values);
    expect(await prove("m", { ...rows, outputs: [spec([1, 2])] }, backend)).toBe(false);
    expect(backend.calls).toHaveLength(5);
  });

  it("nor where made-up inputs are refused, which is logged", async () => {
    const infer = () => Promise.reject(new ProblemError("backend-failed", "It cannot."));
    expect(await prove("m", rows, { infer })).toBe(false);
    expect(warn).toHaveBeenLastCalledWith({ modelKey: "m", reason: "It cannot." }, expect.any(String));
  });

  it.each(["device-lost", "out-of-memory", "not-found"] as const)("which is not known after %s", async (code) => {
    const infer = () => Promise.reject(new ProblemError(code, "It died."));
    await expect(prove("m", rows, { infer })).rejects.toThrow("It died.");
  });
});
