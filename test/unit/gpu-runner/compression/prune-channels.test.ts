import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pruneChannels } from "../../../../src/gpu-runner/compression/prune-channels.ts";
import type { OnnxModel } from "../../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../../src/onnx/read-model.ts";
import { floatsOf, floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { answerNetwork } from "./answer-network.ts";
import {
  drawValues,
  recurrentNetwork,
  separableNetwork,
  signalNetwork,
  thereAndBackNetwork,
} from "./small-networks.ts";

const lenet = readModel(readFileSync("models/lenet5/lenet5.onnx"));

/** A network in which the named weights have nothing but zeros at some places of their first axis. */
function silence(model: OnnxModel, silent: Readonly<Record<string, readonly number[]>>): OnnxModel {
  const weights = new Map(model.weights);
  for (const [name, channels] of Object.entries(silent)) {
    const tensor = weights.get(name)!;
    const values = floatsOf(tensor);
    const size = values.length / tensor.dims[0]!;
    for (const channel of channels) values.fill(0, channel * size, (channel + 1) * size);
    weights.set(name, floatTensor(name, tensor.dims, values));
  }
  return { ...model, weights };
}

describe("pruneChannels", () => {
  it("takes silent channels away, and the answer stays what it was", async () => {
    // A third of each layer's channels, those of conv2 being 25 inputs each of dense1.
    const silent = silence(lenet, {
      "conv1.weight": [0, 4],
      "conv1.bias": [0, 4],
      "conv2.weight": [1, 2, 7, 11, 15],
      "conv2.bias": [1, 2, 7, 11, 15],
    });
    const { model, report } = pruneChannels(silent, { share: 0.34 });
    expect(report.done.slice(0, 2)).toMatchObject([
      { layer: "/conv1/Conv", channels: 6, kept: 4 },
      { layer: "/conv2/Conv", channels: 16, kept: 11 },
    ]);
    expect(model.weights.get("conv2.weight")!.dims).toEqual([11, 4, 5, 5]);
    expect(model.weights.get("dense1.weight")!.dims).toEqual([80, 275]);
    // Of the dense layers' channels none is silent: they are looked at without.
    const convs = new Set(["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias"]);
    const weights = new Map(
      [...silent.weights].map(([name, each]) => [name, convs.has(name) ? model.weights.get(name)! : each]),
    );
    const kept = [0, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14];
    const columns = kept.flatMap((channel) => Array.from({ length: 25 }, (_, at) => channel * 25 + at));
    const dense = floatsOf(silent.weights.get("dense1.weight")!);
    const narrow = Float32Array.from(
      { length: 120 * 275 },
      (_, at) => dense[Math.floor(at / 275) * 400 + columns[at % 275]!]!,
    );
    weights.set("dense1.weight", floatTensor("dense1.weight", [120, 275], narrow));
    const x = new Map([["image", { dims: [1, 1, 28, 28], data: [...drawValues(784, 1)] }]]);
    const [before, after] = [await answerNetwork(silent, x), await answerNetwork({ ...silent, weights }, x)];
    for (const [at, value] of after.get("logits")!.data.entries())
      expect(value).toBeCloseTo(before.get("logits")!.data[at]!, 4);
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.55);
  });

  it("keeps the channels with the largest weights, in their order", () => {
    const { model } = pruneChannels(lenet, { share: 0.5 });
    const given = floatsOf(lenet.weights.get("conv1.weight")!);
    const norms = Array.from({ length: 6 }, (_, at) =>
      given.subarray(at * 25, at * 25 + 25).reduce((sum, v) => sum + v * v, 0),
    );
    const largest = [...norms.keys()]
      .toSorted((a, b) => norms[b]! - norms[a]!)
      .slice(0, 3)
      .toSorted((a, b) => a - b);
    const bias = floatsOf(lenet.weights.get("conv1.bias")!);
    expect([...floatsOf(model.weights.get("conv1.bias")!)]).toEqual(largest.map((channel) => bias[channel]));
  });

  it("takes filters by channel along, and leaves what a sum or the output needs", () => {
    const model = separableNetwork();
    const { report } = pruneChannels(model, { share: 0.5 });
    expect(report.done).toEqual([]);
    expect(report.left.map(({ why }) => why)).toEqual([
      "more than one reads its channels, or they leave the network",
      "its channels are in groups",
      "Add mixes its channels",
      "more than one reads its channels, or they leave the network",
    ]);
    // Without the sum and its neighbours, the first convolution's channels go through the second to the third.
    const nodes = model.nodes
      .filter(({ operator }) => operator !== "Add" && operator !== "Concat")
      .map((node) => ({ ...node, inputs: node.inputs.map((name) => ({ v7_0: "v6_0", v9_0: "v8_0" })[name] ?? name) }));
    const matrix = floatTensor("w15", [5, 8], drawValues(40, 1));
    const gemm = nodes.at(-1)!.inputs[1]!;
    const plain = { ...model, nodes, weights: new Map(model.weights).set(gemm, { ...matrix, name: gemm }) };
    const narrow = pruneChannels(plain, { share: 0.5 });
    expect(narrow.report.done.map(({ operator, kept }) => `${operator} ${kept}`)).toEqual(["Conv 4", "Conv 4"]);
    const depthwise = narrow.model.nodes.find(({ attributes }) => attributes.has("group"))!;
    expect(depthwise.attributes.get("group")).toEqual({ kind: "int", value: 4 });
  });

  it("leaves recurrent layers, and rows of channels", () => {
    expect(pruneChannels(recurrentNetwork(), { share: 0.5 }).report.left.map(({ why }) => why)).toEqual([
      "only convolutions and matrices are made narrower",
      "only convolutions and matrices are made narrower",
      "more than one reads its channels, or they leave the network",
    ]);
    const { left } = pruneChannels(signalNetwork(), { share: 0.5 }).report;
    expect(left.map(({ why }) => why)).toContain("its channels are not the second axis");
    expect(left.map(({ why }) => why)).toContain("Transpose mixes its channels");
  });

  it("follows channels through a mean of all places", async () => {
    const model = silence(thereAndBackNetwork(), { w4: [1, 4], w5: [1, 4] });
    const { model: made, report } = pruneChannels(model, { share: 0.34 });
    expect(report.done).toMatchObject([{ operator: "Conv", channels: 6, kept: 4 }]);
    expect(report.left.map(({ why }) => why)).toContain("ConvTranspose mixes its channels");
    const x = new Map([["x", { dims: [2, 2, 6, 6], data: [...drawValues(144, 1)] }]]);
    const output = model.outputs[0]!.name;
    const [before, after] = [await answerNetwork(model, x), await answerNetwork(made, x)];
    for (const [at, value] of after.get(output)!.data.entries())
      expect(value).toBeCloseTo(before.get(output)!.data[at]!, 4);
  });

  it("keeps at least one channel", () => {
    const { report } = pruneChannels(lenet, { share: 1 });
    expect(report.done.map(({ kept }) => kept)).toEqual([1, 1, 1, 1]);
  });
});
