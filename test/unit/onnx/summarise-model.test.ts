import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countWork } from "../../../src/onnx/count-work.ts";
import { inferShapes } from "../../../src/onnx/infer-shapes.ts";
import type { OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { summariseModel } from "../../../src/onnx/summarise-model.ts";
import { floatTensor } from "../../../src/onnx/tensor-values.ts";
import { floatValue, modelOf, nodeOf } from "./model-of.ts";

const zoo = (name: string) =>
  readModel(new Uint8Array(readFileSync(join(import.meta.dirname, `../../../models/${name}/${name}.onnx`))));
const floats = (name: string, ...dims: number[]) =>
  floatTensor(name, dims, new Float32Array(dims.reduce((product, size) => product * size, 1)));

describe("what a network is made of", () => {
  it("is counted by hand for a dense one", () => {
    const { nodes, weights, inputs } = zoo("cartpole");
    const hidden = weights.get("bias1")!.dims[0]!;
    expect(inputs[0]!.shape).toEqual(["batch", 4]);
    const multiplyAdds = 4 * hidden + hidden * 2;
    expect(summariseModel(zoo("cartpole"))).toEqual({
      opset: 17,
      nodes: nodes.length,
      operators: { Gemm: 2, Tanh: 1 },
      parameters: multiplyAdds + hidden + 2,
      quantisedParameters: 0,
      weightBytes: 4 * (multiplyAdds + hidden + 2),
      multiplyAddsPerRow: multiplyAdds,
      // Biases of both layers, and the activation.
      flopsPerRow: 2 * multiplyAdds + hidden + 2 + hidden,
      activationBytesPerRow: 4 * (hidden + hidden + 2),
    });
  });

  it("counts the weights that stand in Constant nodes", () => {
    const value = { kind: "tensor", value: floats("", 4, 3) } as const;
    const nodes = [nodeOf("Constant", [], ["w"], { value }), nodeOf("MatMul", ["x", "w"], ["y"])];
    expect(summariseModel(modelOf({ nodes, tensors: [], inputs: [floatValue("x", [1, 4])] })).parameters).toBe(12);
  });

  it("has the multiply-adds of LeNet-5 that its layers have", () => {
    const model = zoo("lenet5");
    const shapes = inferShapes(model, 1);
    const layers = model.nodes.filter(({ operator }) => ["Conv", "Gemm"].includes(operator));
    const byHand = layers.reduce((sum, { operator, inputs, outputs }) => {
      const weights = model.weights.get(inputs[1]!)!.dims;
      const places =
        operator === "Conv"
          ? shapes
              .get(outputs[0]!)!
              .slice(2)
              .reduce((a, b) => a * b, 1)
          : 1;
      return sum + places * weights.reduce((a, b) => a * b, 1);
    }, 0);
    const { multiplyAddsPerRow, parameters, flopsPerRow } = summariseModel(model);
    expect(multiplyAddsPerRow).toBe(byHand);
    expect(flopsPerRow).toBeGreaterThan(2 * byHand);
    expect(parameters).toBe(61_706);
  });

  it("counts convolutions back and by groups, recurrent layers, pools and what is normalised", () => {
    const count = (shape: readonly number[], node: ReturnType<typeof nodeOf>, ...tensors: OnnxTensor[]) => {
      const model = modelOf({ nodes: [node], tensors, inputs: [floatValue("x", shape)] });
      return countWork(model, inferShapes(model, 1));
    };
    // 3 × 3 × 1 for each of 8 channels at 5 × 5 places; biases beside it.
    expect(
      count(
        [1, 8, 5, 5],
        nodeOf("Conv", ["x", "w", "b"], ["y"], { group: 8, pads: [1, 1, 1, 1] }),
        floats("w", 8, 1, 3, 3),
        floats("b", 8),
      ),
    ).toEqual({ multiplyAdds: 9 * 200, flops: 2 * 9 * 200 + 200 });
    // Each of 2 × 5 × 5 numbers goes into 3 × 2 × 2.
    expect(count([1, 2, 5, 5], nodeOf("ConvTranspose", ["x", "w"], ["y"]), floats("w", 2, 3, 2, 2))).toEqual({
      multiplyAdds: 600,
      flops: 1_200,
    });
    // 5 steps × 4 units × 3 gates × (3 + 4) inputs; two biases a gate and 8 operations a unit.
    expect(
      count(
        [5, 1, 3],
        nodeOf("GRU", ["x", "w", "r", "b"], ["y"], { hidden_size: 4 }),
        floats("w", 1, 12, 3),
        floats("r", 1, 12, 4),
        floats("b", 1, 24),
      ),
    ).toEqual({ multiplyAdds: 420, flops: 840 + 20 * (8 + 6) });
    expect(
      count(
        [5, 1, 3],
        nodeOf("LSTM", ["x", "w", "r"], ["y"], { hidden_size: 4 }),
        floats("w", 1, 16, 3),
        floats("r", 1, 16, 4),
      ),
    ).toEqual({
      multiplyAdds: 560,
      flops: 1_120 + 20 * 9,
    });
    expect(count([1, 2, 4, 4], nodeOf("MaxPool", ["x"], ["y"], { kernel_shape: [2, 2], strides: [2, 2] }))?.flops).toBe(
      32,
    );
    expect(count([2, 6], nodeOf("Softmax", ["x"], ["y"]))?.flops).toBe(60);
    expect(count([2, 6], nodeOf("Reshape", ["x", "s"], ["y"]))?.flops).toBe(0);
    expect(count([2, 6], nodeOf("NonMaxSuppression", ["x", "x"], ["y"]))).toBeNull();
  });

  it("distinguishes quantised weights from their scales", () => {
    const weights: OnnxTensor = { name: "q", dtype: "int8", dims: [4, 4], bytes: new Uint8Array(16) };
    const nodes = [nodeOf("DequantizeLinear", ["q", "scale"], ["w"]), nodeOf("MatMul", ["x", "w"], ["y"])];
    const found = summariseModel(modelOf({ nodes, tensors: [weights, { ...floats("scale", 1), dims: [] }] }));
    expect(found).toMatchObject({ parameters: 16, quantisedParameters: 16, weightBytes: 20, multiplyAddsPerRow: 16 });
  });
});
