import { describe, expect, it } from "vitest";
import { foldBatchNorm } from "../../../../src/gpu-runner/compression/fold-batch-norm.ts";
import { prune } from "../../../../src/gpu-runner/compression/prune.ts";
import { quantiseInt4 } from "../../../../src/gpu-runner/compression/quantise-int4.ts";
import { listCalibrated, quantiseStatic, withOutputs } from "../../../../src/gpu-runner/compression/quantise-static.ts";
import { quantiseWeights } from "../../../../src/gpu-runner/compression/quantise-weights.ts";
import { toFloat16 } from "../../../../src/gpu-runner/compression/to-float16.ts";
import type { OnnxAttribute, OnnxModel, OnnxTensor } from "../../../../src/onnx/onnx-model.ts";
import { floatsOf, floatTensor, integersOf, integerTensor } from "../../../../src/onnx/tensor-values.ts";
import { answerNetwork } from "./answer-network.ts";
import {
  drawValues,
  oddNetwork,
  recurrentNetwork,
  separableNetwork,
  signalNetwork,
  thereAndBackNetwork,
} from "./small-networks.ts";

function weightOf({ weights }: OnnxModel, end: string): OnnxTensor {
  return [...weights.values()].find(({ name }) => name.endsWith(end))!;
}

/** A network whose one matrix has other numbers. */
function withMatrix(model: OnnxModel, values: Float32Array<ArrayBuffer>, dims: readonly number[]): OnnxModel {
  return { ...model, weights: new Map(model.weights).set("matrix", floatTensor("matrix", dims, values)) };
}

/** A network that reads one weight directly, instead of the one made from its int4 form. */
function replaceMade(model: OnnxModel, tensor: OnnxTensor): OnnxModel {
  const nodes = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((name) => (name === `${tensor.name}_shaped` ? tensor.name : name)),
  }));
  return { ...model, nodes, weights: new Map(model.weights).set(tensor.name, tensor) };
}

describe("weights of a file", () => {
  it("are int8 by channel, a channel of zeros with the scale 1", () => {
    const model = oddNetwork();
    const { model: made, report } = quantiseWeights(model);
    const whole = integersOf(weightOf(made, "_int8"));
    const scales = floatsOf(weightOf(made, "_scale"));
    const values = floatsOf(model.weights.get("matrix")!);
    expect(scales[2]).toBe(1);
    expect(whole.slice(14, 21)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    for (const [channel, scale] of scales.entries()) {
      const [row, given] = [whole.slice(channel * 7, channel * 7 + 7), values.subarray(channel * 7, channel * 7 + 7)];
      if (channel !== 2) expect(Math.max(...row.map(Math.abs))).toBe(127);
      expect(Math.min(...row)).toBeGreaterThanOrEqual(-127);
      for (const [at, value] of given.entries())
        expect(Math.abs(row[at]! * scale - value)).toBeLessThanOrEqual((scale / 2) * 1.001);
    }
    expect(report.done.map(({ layer }) => layer)).toEqual(["v0_0"]);
    expect(report.left).toEqual([]);
  });

  it("equal those of the definition, as int8 and int4", () => {
    const model = withMatrix(oddNetwork(), Float32Array.of(0.7, -0.35, 0.1, -0.02), [1, 4]);
    expect(integersOf(weightOf(quantiseWeights(model).model, "_int8"))).toEqual([127, -64, 18, -4]);
    const four = weightOf(quantiseInt4(model, { blockSize: 32 }).model, "_int4");
    expect(integersOf(four)).toEqual([7, -4, 1, 0]);
    // The lower half of a byte comes first: 7 and −4, 1 and 0.
    expect([...four.bytes]).toEqual([0xc7, 0x01]);
  });

  it("are int4 in groups along their inputs, an odd last half beside zero", () => {
    const { model } = quantiseInt4(oddNetwork(), { blockSize: 32 });
    const four = weightOf(model, "_int4");
    expect(four).toMatchObject({ dtype: "int4", dims: [5, 7] });
    expect(four.bytes.length).toBe(18);
    expect(four.bytes.at(-1)! >> 4).toBe(0);
    expect(weightOf(model, "_scales").dims).toEqual([5, 1]);
    expect(floatsOf(weightOf(model, "_scales"))[2]).toBe(1);
    expect(model).toMatchObject({ opset: 21, irVersion: 10 });
  });

  it("have a scale for each group, the last being shorter", () => {
    const values = drawValues(2 * 70, 3);
    values.fill(0, 32, 64);
    const { model } = quantiseInt4(withMatrix(oddNetwork(), values, [2, 70]), { blockSize: 32 });
    const scales = floatsOf(weightOf(model, "_scales"));
    const largest = (from: number, to: number) => Math.max(...values.subarray(from, to).map(Math.abs));
    const expected = [largest(0, 32) / 7, 1, largest(64, 70) / 7, largest(70, 102) / 7];
    expect([...scales.subarray(0, 4)]).toEqual(expected.map(Math.fround));
  });

  it("are int4 along the inputs of a transposed convolution too", async () => {
    const model = thereAndBackNetwork();
    const { model: made, report } = quantiseInt4(model, { blockSize: 32 });
    expect(report.left).toEqual([]);
    const [four, scales] = [made.weights.get("w2_int4")!, made.weights.get("w2_scales")!];
    expect([four.dims, scales.dims]).toEqual([
      [35, 8],
      [2, 8],
    ]);
    // The same network with these changes.
    const weights = new Map(model.weights);
    const groups = floatsOf(scales);
    const values = integersOf(four).map((whole, at) => whole * groups[(at < 256 ? 0 : 8) + (at % 8)]!);
    weights.set("w2", floatTensor("w2", [35, 2, 2, 2], Float32Array.from(values)));
    const [by, x] = [quantiseInt4({ ...model, weights }, { blockSize: 32 }).model, drawValues(72, 8)];
    const rows = new Map([["x", { dims: [1, 2, 6, 6], data: [...x] }]]);
    const plain = replaceMade(by, weights.get("w2")!);
    const [one, other] = [await answerNetwork(made, rows), await answerNetwork(plain, rows)];
    const output = model.outputs[0]!.name;
    for (const [at, value] of one.get(output)!.data.entries())
      expect(value).toBeCloseTo(other.get(output)!.data[at]!, 4);
  });

  it("are not float16 where that cannot hold them, nor where it saves nothing", () => {
    const values = drawValues(20 * 7, 3);
    const large = withMatrix(oddNetwork(), values.with(3, 70_000), [20, 7]);
    expect(toFloat16(large).report.left.map(({ why }) => why)).toEqual([
      "it has numbers that float16 cannot hold",
      "it has fewer than 64 numbers",
    ]);
    const { report } = toFloat16(withMatrix(oddNetwork(), values, [20, 7]));
    expect(report.done.map(({ layer }) => layer)).toEqual(["matrix"]);
  });

  it("are zero where they were smallest, and counted", () => {
    const { model, report } = prune(oddNetwork(), { sparsity: 0.6 });
    // Seven are zero already, and count among the 21.
    expect(report.done).toMatchObject([{ elements: 35, zeros: 21 }]);
    const [before, after] = [oddNetwork(), model].map((each) => floatsOf(each.weights.get("matrix")!));
    const kept = after!.filter((value) => value !== 0).map(Math.abs);
    const dropped = before!.filter((_, at) => after![at] === 0).map(Math.abs);
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(Math.max(...dropped));
    expect(after!.every((value, at) => value === 0 || value === before![at])).toBe(true);
    expect(report.bytesAfter).toBe(report.bytesBefore);
    expect(prune(oddNetwork(), { sparsity: 1 }).report.done[0]!.zeros).toBe(35);
    expect(prune(oddNetwork(), { sparsity: 0 }).report.done[0]!.zeros).toBe(7);
  });

  it.for([
    ["int8", quantiseWeights, 127],
    ["int4", (model: OnnxModel) => quantiseInt4(model, { blockSize: 32 }), 7],
  ] as const)("of a recurrent layer are %s too", async ([, quantise, high]) => {
    const model = recurrentNetwork();
    const { model: made, report } = quantise(model);
    expect(report.done.map(({ operator }) => operator)).toEqual(["GRU", "GRU", "Gemm"]);
    // The same network with weights that were rounded here.
    const rounded = new Map(model.weights);
    for (const [name, length, stride] of [
      ["w0", 5, 1],
      ["w1", 8, 1],
      ["w4", 8, 3],
    ] as const) {
      const tensor = model.weights.get(name)!;
      rounded.set(name, floatTensor(name, tensor.dims, fakeQuantise(floatsOf(tensor), length, stride, high)));
    }
    const x = new Map([["x", { dims: [6, 2, 5], data: [...drawValues(60, 8)] }]]);
    const output = model.outputs[0]!.name;
    const [one, other] = [await answerNetwork(made, x), await answerNetwork({ ...model, weights: rounded }, x)];
    // The Gemm of int4 rounds its activations to 8 bits, too.
    const digits = high === 7 ? 2 : 5;
    for (const [at, value] of one.get(output)!.data.entries())
      expect(value).toBeCloseTo(other.get(output)!.data[at]!, digits);
  });
});

/** Each channel's `length` weights, which lie `stride` apart, by the channel's own scale. */
function fakeQuantise(values: Float32Array, length: number, stride: number, high: number): Float32Array<ArrayBuffer> {
  const rounded = new Float32Array(values);
  for (let channel = 0; channel < values.length / length; channel++) {
    const first = stride === 1 ? channel * length : channel;
    const places = Array.from({ length }, (_, at) => first + at * stride);
    const scale = Math.fround(Math.max(...places.map((place) => Math.abs(values[place]!))) / high);
    for (const place of places) rounded[place] = Math.round(values[place]! / scale) * scale;
  }
  return rounded;
}

describe("foldBatchNorm", () => {
  it("leaves no batch norm behind a convolution, and says so", () => {
    const { model, report } = foldBatchNorm(separableNetwork());
    expect(model.nodes.map(({ operator }) => operator)).not.toContain("BatchNormalization");
    expect(report.done.map(({ what }) => what)).toEqual(["folded into v0_0", "folded into v3_0"]);
    expect(model.weights.size).toBeLessThan(separableNetwork().weights.size);
  });

  it("leaves one whose input others read, or that follows nothing linear", () => {
    const model = signalNetwork();
    const spied = {
      ...model,
      outputs: [...model.outputs, { name: "v0_0", dtype: "float32", shape: ["", 7, ""] }] as const,
    };
    expect(foldBatchNorm(spied).report.left).toMatchObject([{ why: "its input has other readers" }]);
    const nodes = model.nodes.map((node) => (node.operator === "Conv" ? { ...node, operator: "Relu" } : node));
    expect(foldBatchNorm({ ...model, nodes }).report.left).toMatchObject([
      { why: "no convolution or Gemm is before it" },
    ]);
  });
});

describe("quantiseStatic", () => {
  const ranges = new Map(listCalibrated(oddNetwork()).map((name) => [name, { min: -1, max: 1 }]));

  it("wants the range of each activation that it names", () => {
    expect([...ranges.keys()]).toEqual(["x", "v0_0"]);
    expect(() => quantiseStatic(oddNetwork(), new Map())).toThrow(new RangeError("no range of x was given"));
    const broken = new Map(ranges).set("v0_0", { min: 0, max: Infinity });
    expect(() => quantiseStatic(oddNetwork(), broken)).toThrow("is not finite");
  });

  it("recognises biases by the scale of input and weights", () => {
    const { model } = quantiseStatic(oddNetwork(), ranges);
    const input = floatsOf(weightOf(model, "x_scale"))[0]!;
    const weights = floatsOf(weightOf(model, "matrix_scale"));
    const bias = weightOf(model, "bias_int32");
    const scales = floatsOf(weightOf(model, "bias_scale"));
    expect(bias).toMatchObject({ dtype: "int32", dims: [5] });
    for (const [channel, scale] of scales.entries()) expect(scale).toBe(Math.fround(input * weights[channel]!));
    const given = floatsOf(oddNetwork().weights.get("w1")!);
    for (const [channel, whole] of integersOf(bias).entries())
      expect(Math.abs(whole * scales[channel]! - given[channel]!)).toBeLessThanOrEqual(scales[channel]!);
  });

  it("has room for a bias beside weights that are next to nothing", () => {
    const tiny = withMatrix(oddNetwork(), new Float32Array(35).fill(1e-30), [5, 7]);
    const { model } = quantiseStatic(tiny, ranges);
    const bias = integersOf(weightOf(model, "bias_int32"));
    const scales = floatsOf(weightOf(model, "bias_scale"));
    const given = floatsOf(tiny.weights.get("w1")!);
    for (const [channel, whole] of bias.entries()) expect(whole * scales[channel]!).toBeCloseTo(given[channel]!, 6);
  });

  it("leaves recurrent layers in float32, their weights as int8", () => {
    const model = recurrentNetwork();
    const made = quantiseStatic(model, new Map(listCalibrated(model).map((name) => [name, { min: -1, max: 1 }])));
    expect(made.report.done.map(({ operator, what }) => `${operator}: ${what}`)).toEqual([
      "Gemm: computed with uint8 and int8",
      "GRU: weights as int8, a scale for each of 24 channels",
      "GRU: weights as int8, a scale for each of 24 channels",
    ]);
  });

  it("leaves sums of whole numbers, and those of unknown shapes", () => {
    const given = oddNetwork();
    const node = (operator: string, inputs: string[], output: string, attributes: [string, OnnxAttribute][] = []) => ({
      name: "",
      operator,
      domain: "",
      inputs,
      outputs: [output],
      attributes: new Map(attributes),
    });
    const nodes = [
      node("Cast", ["x"], "whole", [["to", { kind: "int", value: 7 }]]),
      node("Add", ["whole", "whole"], "twice"),
      node("Cast", ["twice"], "again", [["to", { kind: "int", value: 1 }]]),
      node("Compress", ["again", "axis"], "strange"),
      node("Add", ["strange", "x"], "input"),
      { ...given.nodes[0]!, inputs: ["again", "matrix", "w1"] },
    ];
    const weights = new Map(given.weights).set("axis", integerTensor("axis", [1]));
    const model = { ...given, nodes, weights };
    const names = listCalibrated(model);
    expect(names).toEqual(["again", "v0_0"]);
    const { left } = quantiseStatic(model, new Map(names.map((name) => [name, { min: -1, max: 1 }]))).report;
    expect(left).toEqual([
      { layer: "twice", operator: "Add", why: "its activations are not float32" },
      { layer: "input", operator: "Add", why: "the shape of its activations is unknown" },
    ]);
  });

  it("is observed through outputs that are added once", () => {
    const model = separableNetwork();
    const names = listCalibrated(model);
    const { outputs } = withOutputs(model, names);
    expect(outputs.map(({ name }) => name)).toEqual([
      model.outputs[0]!.name,
      ...names.filter((name) => name !== model.outputs[0]!.name),
    ]);
  });
});
