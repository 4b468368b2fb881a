import { readFile } from "node:fs/promises";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { createSeededInputs } from "../../src/protocol/seeded-inputs.ts";
import type { Tensor } from "../../src/protocol/tensor.ts";
import {
  type OnnxConstant,
  type OnnxNode,
  writeOnnxGraph,
} from "../../src/gpu-runner/serving/backends/write-onnx-graph.ts";

/** The models of the trace: a small network, and one of 140 times its products. */
export const MODELS = ["lenet5", "stack6"] as const;
export type ModelName = (typeof MODELS)[number];

/** Both take one grey image a row and give ten numbers. */
const INPUT = { name: "image", shape: [-1, 1, 28, 28] };
const OUTPUT = { name: "logits", shape: [-1, 10] };

const LENET5 = new URL("../../models/lenet5/lenet5.onnx", import.meta.url);
/** Maps of the 3×3 convolutions of `stack6`, two at a resolution; then the widths of its dense layers. */
const MAPS = [64, 64, 96, 96];
const WIDTHS = [512, 10];

/** The bytes of a model's ONNX file. */
export async function readModel(name: ModelName): Promise<Uint8Array<ArrayBuffer>> {
  return name === "lenet5" ? new Uint8Array(await readFile(LENET5)) : writeStack();
}

/** One image for either model, the same for the same seed. */
export function createImage(seed: number): Tensor[] {
  return createSeededInputs([{ ...INPUT, dtype: "float32" }], seed);
}

/**
 * Four convolutions with two poolings, then two dense layers: 2.6 million seeded weights, 59 million
 * products an image. The convolutions cost the same for every image of a batch; reading the dense
 * weights is paid once a batch.
 */
function writeStack(): Uint8Array<ArrayBuffer> {
  const constants: OnnxConstant[] = [];
  const nodes: OnnxNode[] = [];
  let last = INPUT.name;
  const add = (node: Omit<OnnxNode, "output">, output = `${node.operator}${nodes.length}`) => {
    nodes.push({ ...node, output });
    last = output;
  };
  /** Uniform weights whose variance keeps that of what goes through ReLU (He et al., 2015), and no bias. */
  const weigh = (shape: readonly number[], fanIn: number, outputs: number): string[] => {
    const seed = constants.length + 1;
    const bound = Math.sqrt(6 / fanIn);
    const count = shape.reduce((product, size) => product * size, 1);
    constants.push({ name: `weights${seed}`, shape, values: seededUniform(seed, 0, count, bound) });
    constants.push({ name: `bias${seed}`, shape: [outputs], values: new Float32Array(outputs) });
    return [`weights${seed}`, `bias${seed}`];
  };
  let channels = 1;
  let side = 28;
  for (const [index, maps] of MAPS.entries()) {
    const weights = weigh([maps, channels, 3, 3], 9 * channels, maps);
    add({ operator: "Conv", inputs: [last, ...weights], attributes: { pads: [1, 1, 1, 1] } });
    add({ operator: "Relu", inputs: [last] });
    channels = maps;
    if (index % 2 === 0) continue;
    add({ operator: "MaxPool", inputs: [last], attributes: { kernel_shape: [2, 2], strides: [2, 2] } });
    side /= 2;
  }
  add({ operator: "Flatten", inputs: [last] });
  let width = channels * side * side;
  for (const [index, next] of WIDTHS.entries()) {
    const isLast = index === WIDTHS.length - 1;
    add({ operator: "Gemm", inputs: [last, ...weigh([width, next], width, next)] }, isLast ? OUTPUT.name : undefined);
    if (!isLast) add({ operator: "Relu", inputs: [last] });
    width = next;
  }
  return writeOnnxGraph({ name: "stack6", inputs: [INPUT], outputs: [OUTPUT], constants, nodes });
}
