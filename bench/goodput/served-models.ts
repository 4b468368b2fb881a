import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { TensorSpec } from "../../src/protocol/models/model.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import {
  type GraphConstant,
  type GraphNode,
  writeOnnxGraph,
} from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";

/** Models of the trace: a policy for control loops, and a vision network. */
export const MODELS = ["policy", "vision"] as const;
export type ModelName = (typeof MODELS)[number];

/** Input and output of a row of each. */
const INPUTS: Readonly<Record<ModelName, Omit<TensorSpec, "dtype">>> = {
  policy: { name: "observation", shape: [-1, 64] },
  vision: { name: "image", shape: [-1, 1, 28, 28] },
};
const OUTPUT = { name: "scores", shape: [-1, 10] };

/** Widths of the policy's dense layers. */
const POLICY_WIDTHS = [256, 256, 10];
/** Maps of the 3×3 convolutions of `vision`, two at a resolution; then the widths of its dense layers. */
const MAPS = [224, 224, 384, 384];
const WIDTHS = [256, 10];

/** The bytes of a model's ONNX file. */
export function writeModel(name: ModelName): Uint8Array<ArrayBuffer> {
  return name === "policy" ? writePolicy() : writeVision();
}

/** One row for a model, the same for the same seed. */
export function createInput(name: ModelName, seed: number): Tensor[] {
  return createSeededInputs([{ ...INPUTS[name], dtype: "float32" }], seed);
}

/** Three dense layers: 85,000 seeded weights. */
function writePolicy(): Uint8Array<ArrayBuffer> {
  const graph = new Graph(INPUTS.policy.name);
  graph.addDense(INPUTS.policy.shape[1]!, POLICY_WIDTHS);
  return graph.write("policy");
}

/**
 * Four convolutions with two poolings, then two dense layers: 7.4 million seeded weights, 770 million
 * products an image. The convolutions cost the same for every image of a batch; reading the dense
 * weights is paid once a batch.
 */
function writeVision(): Uint8Array<ArrayBuffer> {
  const graph = new Graph(INPUTS.vision.name);
  let [, channels = 1, side = 1] = INPUTS.vision.shape;
  for (const [index, maps] of MAPS.entries()) {
    const weights = graph.weigh([maps, channels, 3, 3], 9 * channels, maps);
    graph.add("Conv", weights, { pads: [1, 1, 1, 1] });
    graph.add("Relu");
    channels = maps;
    if (index % 2 === 0) continue;
    graph.add("MaxPool", [], { kernel_shape: [2, 2], strides: [2, 2] });
    side /= 2;
  }
  graph.add("Flatten");
  graph.addDense(channels * side * side, WIDTHS);
  return graph.write("vision");
}

/** A chain of operators, each on the output of the previous one. */
class Graph {
  readonly #constants: GraphConstant[] = [];
  readonly #nodes: GraphNode[] = [];
  readonly #input: string;

  constructor(input: string) {
    this.#input = input;
  }

  add(operator: string, weights: readonly string[] = [], attributes?: GraphNode["attributes"]): void {
    const last = this.#nodes.at(-1)?.output ?? this.#input;
    const node = { operator, inputs: [last, ...weights], output: `${operator}${this.#nodes.length}` };
    this.#nodes.push(attributes === undefined ? node : { ...node, attributes });
  }

  /** Dense layers of these widths with ReLU between them. */
  addDense(inputs: number, widths: readonly number[]): void {
    for (const [index, width] of widths.entries()) {
      if (index > 0) this.add("Relu");
      const fanIn = widths[index - 1] ?? inputs;
      this.add("Gemm", this.weigh([fanIn, width], fanIn, width));
    }
  }

  /**
   * Uniform weights whose variance is kept through ReLU, and no bias.
   * Source: He et al., 2015.
   */
  weigh(shape: readonly number[], fanIn: number, outputs: number): string[] {
    const seed = this.#constants.length + 1;
    const bound = Math.sqrt(6 / fanIn);
    const count = shape.reduce((product, size) => product * size, 1);
    this.#constants.push({ name: `weights${seed}`, shape, values: seededUniform(seed, 0, count, bound) });
    this.#constants.push({ name: `bias${seed}`, shape: [outputs], values: new Float32Array(outputs) });
    return [`weights${seed}`, `bias${seed}`];
  }

  /** The file; the last operator gives the scores. */
  write(name: ModelName): Uint8Array<ArrayBuffer> {
    const last = { ...this.#nodes.at(-1)!, output: OUTPUT.name };
    const nodes = [...this.#nodes.slice(0, -1), last];
    return writeOnnxGraph({ name, inputs: [INPUTS[name]], outputs: [OUTPUT], constants: this.#constants, nodes });
  }
}
