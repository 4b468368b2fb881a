import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type ActivationRange,
  listCalibrated,
  quantiseStatic,
  withOutputs,
} from "../../../../src/gpu-runner/compression/quantise-static.ts";
import { factorise } from "../../../../src/gpu-runner/compression/factorise.ts";
import { foldBatchNorm } from "../../../../src/gpu-runner/compression/fold-batch-norm.ts";
import { pruneChannels } from "../../../../src/gpu-runner/compression/prune-channels.ts";
import { prune } from "../../../../src/gpu-runner/compression/prune.ts";
import { quantiseInt4 } from "../../../../src/gpu-runner/compression/quantise-int4.ts";
import { quantiseWeights } from "../../../../src/gpu-runner/compression/quantise-weights.ts";
import { findWholeProducts } from "../../../../src/gpu-runner/devices/ort/whole-products.ts";
import { toFloat16 } from "../../../../src/gpu-runner/compression/to-float16.ts";
import type { OnnxModel } from "../../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../../src/onnx/read-model.ts";
import { floatsOf } from "../../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { answerNetwork } from "./answer-network.ts";
import { interpret, type Values } from "./interpret.ts";
import { drawValues, oddNetwork, separableNetwork, signalNetwork } from "./small-networks.ts";

const NETWORKS: Readonly<Record<string, OnnxModel>> = {
  lenet5: readModel(readFileSync("models/lenet5/lenet5.onnx")),
  cartpole: readModel(readFileSync("models/cartpole/cartpole.onnx")),
  separable: separableNetwork(),
  signal: signalNetwork(),
  odd: oddNetwork(),
};
const names = Object.keys(NETWORKS);

function inputsOf(model: OnnxModel, seed: number, rows: number): Map<string, Values> {
  return new Map(
    model.inputs.map(({ name, shape }) => {
      const dims = shape.map((size) => (typeof size === "number" ? size : rows));
      return [
        name,
        {
          dims,
          data: [
            ...drawValues(
              dims.reduce((product, size) => product * size, 1),
              seed,
            ),
          ],
        },
      ];
    }),
  );
}

async function calibrate(model: OnnxModel): Promise<Map<string, ActivationRange>> {
  const wanted = listCalibrated(model);
  const observed = await answerNetwork(withOutputs(model, wanted), inputsOf(model, 77, 16));
  return new Map(
    wanted.map((name) => {
      const { data } = observed.get(name)!;
      return [name, { min: data.reduce((a, b) => Math.min(a, b)), max: data.reduce((a, b) => Math.max(a, b)) }];
    }),
  );
}

/** The largest difference of two answers, and the largest number of the second. */
function compare(one: Values, other: Values): { difference: number; size: number } {
  expect(one.dims).toEqual(other.dims);
  expect(one.data.every(Number.isFinite)).toBe(true);
  return {
    difference: Math.max(...one.data.map((value, index) => Math.abs(value - other.data[index]!))),
    size: Math.max(...other.data.map(Math.abs)),
  };
}

const WEIGHTS_ONLY: Readonly<Record<string, (model: OnnxModel) => { model: OnnxModel }>> = {
  "batch norms folded": foldBatchNorm,
  float16: toFloat16,
  int8: (model) => quantiseWeights(model),
  "int8 dynamic": (model) => quantiseWeights(model, "dynamic"),
  "int4 by 32": (model) => quantiseInt4(model, { blockSize: 32 }),
  "int4 by 128": (model) => quantiseInt4(model, { blockSize: 128 }),
  "low rank": (model) => factorise(model, { energy: 0.8 }),
  pruned: (model) => prune(model, { sparsity: 0.5 }),
  narrower: (model) => pruneChannels(model, { share: 0.4 }),
};

describe.for(names)("variants of %s", (name) => {
  const model = NETWORKS[name]!;
  // LeNet takes seconds to interpret.
  const inputs = inputsOf(model, 5, name === "lenet5" ? 1 : 2);
  const output = model.outputs[0]!.name;

  it.for(Object.keys(WEIGHTS_ONLY))("%s: ONNX Runtime answers what the file says", async (variant) => {
    const made = WEIGHTS_ONLY[variant]!(model).model;
    expect(made.inputs).toEqual(model.inputs);
    expect(made.outputs).toEqual(model.outputs);
    const answer = (await answerNetwork(made, inputs)).get(output)!;
    const { difference, size } = compare(answer, interpret(readModel(writeModel(made)), inputs).get(output)!);
    // The runtime by itself computes any of these products in whole numbers, by activations rounded to 8 bits.
    expect(difference / size).toBeLessThan(findWholeProducts(made).length > 0 ? 0.01 : 1e-5);
  });

  it("static: ONNX Runtime answers what the file says, within one step of the output", async () => {
    const made = quantiseStatic(model, await calibrate(model)).model;
    const answer = (await answerNetwork(made, inputs)).get(output)!;
    const { difference } = compare(answer, interpret(readModel(writeModel(made)), inputs).get(output)!);
    const last = made.nodes.find(({ outputs }) => outputs[0] === output)!;
    // A network may end with an unquantised part; the measure is then a step before it.
    const [step] = last.operator === "DequantizeLinear" ? floatsOf(made.weights.get(last.inputs[1]!)!) : [1 / 128];
    expect(difference).toBeLessThanOrEqual(step! * 1.001);
  });

  it("static: stays near the network that was quantised", async () => {
    const made = quantiseStatic(model, await calibrate(model)).model;
    const answer = (await answerNetwork(made, inputs)).get(output)!;
    const { difference, size } = compare(answer, (await answerNetwork(model, inputs)).get(output)!);
    expect(difference / size).toBeLessThan(0.1);
  });
});
