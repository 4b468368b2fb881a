import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { countElements, type OnnxAttribute, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../onnx/tensor-values.ts";
import { writeModel } from "../../onnx/write-model.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";

/** A network with random weights, and one input for it. */
export interface BlockNetwork {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly inputs: readonly Tensor[];
}

/** Which network. */
export interface BlockCase {
  readonly block: "transformer" | "resnet18" | "mobilenet" | "encoder";
}

type Attributes = Readonly<Record<string, number | readonly number[]>>;

/** A graph that grows by one operator after the other. Weights are uniform with the variance that keeps sums in size. */
class Graph {
  readonly nodes: OnnxNode[] = [];
  readonly weights = new Map<string, OnnxTensor>();
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  add(operator: string, inputs: readonly string[], attributes: Attributes = {}): string {
    const output = `v${this.nodes.length}`;
    const read = Object.entries(attributes).map(([name, value]): [string, OnnxAttribute] => {
      if (typeof value !== "number") return [name, { kind: "ints", value }];
      return [name, Number.isInteger(value) ? { kind: "int", value } : { kind: "float", value }];
    });
    this.nodes.push({ name: "", domain: "", operator, inputs, outputs: [output], attributes: new Map(read) });
    return output;
  }

  /** Weights whose sums have so many terms. */
  draw(dims: readonly number[], terms: number): string {
    const name = `w${this.weights.size}`;
    const values = seededUniform(this.#seed, this.weights.size, countElements(dims), Math.sqrt(3 / terms));
    this.weights.set(name, floatTensor(name, dims, values));
    return name;
  }

  constant(dims: readonly number[], value: number): string {
    const name = `w${this.weights.size}`;
    this.weights.set(name, floatTensor(name, dims, new Float32Array(countElements(dims)).fill(value)));
    return name;
  }

  list(values: readonly number[]): string {
    const name = `w${this.weights.size}`;
    this.weights.set(name, integerTensor(name, values));
    return name;
  }

  /** The file, with any number of rows: the first axis of all inputs and of the output. */
  write(input: readonly (Tensor & { readonly dtype: "float32" | "int64" })[], output: string, row: number[]) {
    const inputs = input.map(({ name, dtype, shape }) => ({ name, dtype, shape: ["rows", ...shape.slice(1)] }));
    // The last operator's output has the name of the network's.
    const last = this.nodes.at(-1)!;
    const nodes = [...this.nodes.slice(0, -1), { ...last, outputs: [output] }];
    const outputs = [{ name: output, dtype: "float32", shape: ["rows", ...row] }] as const;
    const whole = { irVersion: 8, opset: 17, domains: new Map(), name: "block", weights: this.weights };
    return writeModel({ ...whole, nodes, inputs, outputs });
  }
}

function floats(name: string, shape: readonly number[], seed: number): Tensor & { readonly dtype: "float32" } {
  const values = seededUniform(seed, 1000, countElements(shape));
  return { name, dtype: "float32", shape: [...shape], bytes: new Uint8Array(values.buffer) };
}

function integers(name: string, values: readonly number[]): Tensor & { readonly dtype: "int64" } {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, dtype: "int64", shape: [1, values.length], bytes };
}

interface Transformer {
  readonly tokens: number;
  readonly width: number;
  readonly heads: number;
  readonly hidden: number;
}

/** A linear layer over tokens, as PyTorch exports it. */
function linear(graph: Graph, input: string, from: number, to: number): string {
  return graph.add("Add", [graph.add("MatMul", [input, graph.draw([from, to], from)]), graph.draw([to], 12)]);
}

function normalise(graph: Graph, input: string, width: number): string {
  return graph.add("LayerNormalization", [input, graph.constant([width], 1), graph.draw([width], 12)], { axis: -1 });
}

/** Gelu by its definition, as files before opset 20 have it. */
function gelu(graph: Graph, input: string): string {
  const erf = graph.add("Erf", [graph.add("Div", [input, graph.constant([], Math.SQRT2)])]);
  const product = graph.add("Mul", [input, graph.add("Add", [erf, graph.constant([], 1)])]);
  return graph.add("Mul", [product, graph.constant([], 0.5)]);
}

/** One layer of an encoder, with normalisation after each half as in BERT. `mask` is added to the scores. */
function addLayer(graph: Graph, input: string, sizes: Transformer, mask: string | null): string {
  const { tokens, width, heads, hidden } = sizes;
  const depth = width / heads;
  const split = (perm: readonly number[]) => {
    const shaped = graph.add("Reshape", [linear(graph, input, width, width), graph.list([0, tokens, heads, depth])]);
    return graph.add("Transpose", [shaped], { perm });
  };
  const [query, key, value] = [split([0, 2, 1, 3]), split([0, 2, 3, 1]), split([0, 2, 1, 3])];
  const scores = graph.add("Div", [graph.add("MatMul", [query, key]), graph.constant([], Math.sqrt(depth))]);
  const shares = graph.add("Softmax", [mask === null ? scores : graph.add("Add", [scores, mask])], { axis: -1 });
  const seen = graph.add("Transpose", [graph.add("MatMul", [shares, value])], { perm: [0, 2, 1, 3] });
  const joined = graph.add("Reshape", [seen, graph.list([0, tokens, width])]);
  const first = normalise(graph, graph.add("Add", [linear(graph, joined, width, width), input]), width);
  const inner = linear(graph, gelu(graph, linear(graph, first, width, hidden)), hidden, width);
  return normalise(graph, graph.add("Add", [inner, first]), width);
}

/** A layer of a transformer: 128 tokens of width 256, 8 heads. */
function createTransformer(seed: number): BlockNetwork {
  const graph = new Graph(seed);
  const inputs = [floats("x", [1, 128, 256], seed)];
  addLayer(graph, "x", { tokens: 128, width: 256, heads: 8, hidden: 1024 }, null);
  return { file: graph.write(inputs, "y", [128, 256]), inputs };
}

/** Words of the encoder's table, fewer than the 30,522 of the original, which only take memory. */
const WORDS = 4096;

/** An encoder in the form of MiniLM-L6: 128 tokens, six layers of width 384 with 12 heads, and the mean of the tokens. */
function createEncoder(seed: number): BlockNetwork {
  const graph = new Graph(seed);
  const [tokens, width] = [128, 384];
  const places = Array.from({ length: tokens }, (_, at) => at);
  const inputs = [
    integers(
      "input_ids",
      places.map((at) => (at * 977) % WORDS),
    ),
    integers(
      "attention_mask",
      places.map((at) => (at < 120 ? 1 : 0)),
    ),
  ];
  const words = graph.add("Gather", [graph.draw([WORDS, width], 3), "input_ids"], { axis: 0 });
  const placed = graph.add("Add", [words, graph.draw([1, tokens, width], 12)]);
  const kept = graph.add("Cast", ["attention_mask"], { to: 1 });
  const hidden = graph.add("Mul", [graph.add("Sub", [kept, graph.constant([], 1)]), graph.constant([], 10_000)]);
  const mask = graph.add("Unsqueeze", [hidden, graph.list([1, 2])]);
  let value = normalise(graph, placed, width);
  for (let layer = 0; layer < 6; layer++) {
    value = addLayer(graph, value, { tokens, width, heads: 12, hidden: 4 * width }, mask);
  }
  graph.add("ReduceMean", [value], { axes: [1], keepdims: 0 });
  return { file: graph.write(inputs, "y", [width]), inputs };
}

/** Two convolutions beside a shortcut, which has a convolution of its own where the size changes. */
function addResidual(graph: Graph, input: string, from: number, to: number, stride: number): string {
  const convolve = (value: string, channels: number, kernel: number, step: number) => {
    const pad = (kernel - 1) / 2;
    const weights = graph.draw([to, channels, kernel, kernel], channels * kernel * kernel);
    const window = { kernel_shape: [kernel, kernel], strides: [step, step], pads: [pad, pad, pad, pad] };
    return graph.add("Conv", [value, weights, graph.draw([to], 12)], window);
  };
  const first = graph.add("Relu", [convolve(input, from, 3, stride)]);
  const second = convolve(first, to, 3, 1);
  const shortcut = stride === 1 && from === to ? input : convolve(input, from, 1, stride);
  return graph.add("Relu", [graph.add("Add", [second, shortcut])]);
}

/** ResNet-18 for pictures of 224 × 224, its normalisations folded into the convolutions as exporters do. */
function createResnet18(seed: number): BlockNetwork {
  const graph = new Graph(seed);
  const inputs = [floats("x", [1, 3, 224, 224], seed)];
  const window = { kernel_shape: [7, 7], strides: [2, 2], pads: [3, 3, 3, 3] };
  const stem = graph.add("Conv", ["x", graph.draw([64, 3, 7, 7], 147), graph.draw([64], 12)], window);
  const pool = { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] };
  let value = graph.add("MaxPool", [graph.add("Relu", [stem])], pool);
  let channels = 64;
  for (const [stage, filters] of [64, 128, 256, 512].entries()) {
    value = addResidual(graph, value, channels, filters, stage === 0 ? 1 : 2);
    value = addResidual(graph, value, filters, filters, 1);
    channels = filters;
  }
  const flat = graph.add("Flatten", [graph.add("GlobalAveragePool", [value])], { axis: 1 });
  graph.add("Gemm", [flat, graph.draw([512, 1000], 512), graph.draw([1000], 12)]);
  return { file: graph.write(inputs, "y", [1000]), inputs };
}

/** Stages of MobileNetV2: expansion, filters, blocks and the stride of the first (Sandler et al. 2018, table 2). */
const MOBILE_STAGES = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
] as const;

/** MobileNetV2 for pictures of 224 × 224: most of its layers filter each channel by itself. */
function createMobilenet(seed: number): BlockNetwork {
  const graph = new Graph(seed);
  const inputs = [floats("x", [1, 3, 224, 224], seed)];
  const [none, most] = [graph.constant([], 0), graph.constant([], 6)];
  const cut = (value: string) => graph.add("Clip", [value, none, most]);
  const mix = (value: string, from: number, to: number) =>
    graph.add("Conv", [value, graph.draw([to, from, 1, 1], from), graph.draw([to], 12)], { kernel_shape: [1, 1] });
  const window = (stride: number) => ({ kernel_shape: [3, 3], strides: [stride, stride], pads: [1, 1, 1, 1] });
  const filterEach = (value: string, channels: number, stride: number) => {
    const weights = graph.draw([channels, 1, 3, 3], 9);
    return graph.add("Conv", [value, weights, graph.draw([channels], 12)], { ...window(stride), group: channels });
  };
  let value = cut(graph.add("Conv", ["x", graph.draw([32, 3, 3, 3], 27), graph.draw([32], 12)], window(2)));
  let channels = 32;
  for (const [expansion, filters, blocks, stride] of MOBILE_STAGES) {
    for (let block = 0; block < blocks; block++) {
      const wide = expansion * channels;
      const expanded = expansion === 1 ? value : cut(mix(value, channels, wide));
      const filtered = cut(filterEach(expanded, wide, block === 0 ? stride : 1));
      const reduced = mix(filtered, wide, filters);
      value = block === 0 ? reduced : graph.add("Add", [reduced, value]);
      channels = filters;
    }
  }
  const pooled = graph.add("GlobalAveragePool", [cut(mix(value, channels, 1280))]);
  graph.add("Gemm", [
    graph.add("Flatten", [pooled], { axis: 1 }),
    graph.draw([1280, 1000], 1280),
    graph.draw([1000], 12),
  ]);
  return { file: graph.write(inputs, "y", [1000]), inputs };
}

const CREATE = {
  transformer: createTransformer,
  resnet18: createResnet18,
  mobilenet: createMobilenet,
  encoder: createEncoder,
} as const;
/** Of weights and inputs. */
const SEED = 1;

/** The same network for the same name. */
export function createBlock({ block }: BlockCase): BlockNetwork {
  return CREATE[block](SEED);
}
