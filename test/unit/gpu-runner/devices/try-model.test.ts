import { expect, it } from "vitest";
import { OrtBackend } from "../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { tryModel } from "../../../../src/gpu-runner/devices/ort/try-model.ts";
import { floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";

it("counts nodes whose names break the runtime's profile, and asks for none of the CPU's", async () => {
  const node = (name: string, operator: string, inputs: string[], output: string) => {
    return { name, domain: "", operator, inputs, outputs: [output], attributes: new Map() };
  };
  const file = writeModel({
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name: "quoted",
    nodes: [node('a"b', "MatMul", ["x", "w"], "h"), node("c\\", "Softmax", ["h"], "s"), node("d\n", "Abs", ["s"], "y")],
    weights: new Map([["w", floatTensor("w", [4, 3], Float32Array.from({ length: 12 }, Math.sin))]]),
    inputs: [{ name: "x", dtype: "float32", shape: [1, 4] }],
    outputs: [{ name: "y", dtype: "float32", shape: [1, 3] }],
  });
  const x = { name: "x", dtype: "float32" as const, shape: [1, 4], bytes: new Uint8Array(16) };
  // The CPU provider in the place of a GPU's.
  const places = await tryModel(new OrtBackend("cuda", "cpu"), file, [x]);
  expect(places).toEqual({ onProvider: 0, onCpu: { MatMul: 1, Softmax: 1, Abs: 1 } });
  expect(await tryModel(new OrtBackend("cpu"), file, [x])).toBeNull();
});
