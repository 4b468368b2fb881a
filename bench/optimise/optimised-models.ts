import { readFile } from "node:fs/promises";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { FIRST_VARIANT, type TensorSpec } from "../../src/protocol/models/model.ts";
import { lehmer } from "../../src/stats/random/seeded.ts";

/** A model with the content of each of its variants, the first one first. */
export interface OptimisedModel {
  readonly name: string;
  readonly variants: ReadonlyMap<string, Uint8Array>;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
}

/** Neurons of a layer: 25 MB of weights, which one core reads slower than two. */
const WIDTH = 1_024;
const LAYERS = 6;

/** A small network in two variants, and a wide one that gains from threads. */
export async function readOptimisedModels(): Promise<OptimisedModel[]> {
  const fileOf = async (file: string) =>
    new Uint8Array(await readFile(new URL(`../../models/lenet5/${file}`, import.meta.url)));
  const [fp32, int8] = await Promise.all([fileOf("lenet5.onnx"), fileOf("lenet5-int8.onnx")]);
  const random = lehmer();
  const layers = Array.from({ length: LAYERS }, () => ({
    inputs: WIDTH,
    outputs: WIDTH,
    weights: Float32Array.from({ length: WIDTH * WIDTH }, () => (random() - 0.5) / 16),
    bias: new Float32Array(WIDTH),
  }));
  const tensor = (name: string, shape: number[]): TensorSpec => ({ name, dtype: "float32", shape });
  return [
    {
      name: "lenet5",
      variants: new Map([
        [FIRST_VARIANT, fp32],
        ["int8", int8],
      ]),
      inputs: [tensor("image", [-1, 1, 28, 28])],
      outputs: [tensor("logits", [-1, 10])],
    },
    {
      name: `mlp-${WIDTH}x${LAYERS}`,
      variants: new Map([[FIRST_VARIANT, writeOnnxMlp({ name: "wide", input: "x", output: "y", layers })]]),
      inputs: [tensor("x", [-1, WIDTH])],
      outputs: [tensor("y", [-1, WIDTH])],
    },
  ];
}
