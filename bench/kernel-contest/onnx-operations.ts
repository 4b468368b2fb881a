import {
  type OnnxGraph,
  type GraphNode,
  type GraphValue,
  writeOnnxGraph,
} from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";
import { readDenseLayers } from "./dense-layers.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import type { KernelCase } from "./kernel-case.ts";
import { permuteAxes } from "./permute-axes.ts";

/** A case in ONNX; weights of networks are in the file, so that a runtime may rearrange them. */
export interface OnnxOperation {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly feeds: readonly (GraphValue & { readonly values: Float32Array })[];
  /** Name of the output. */
  readonly output: string;
  /** An output in the layout of our kernel. */
  arrange(values: Float32Array): Float32Array;
}

type Build = (input: KernelCase) => Omit<OnnxOperation, "file" | "output"> & { readonly graph: OnnxGraph };

const keep = (values: Float32Array): Float32Array => values;
const values = (arrays: Readonly<Record<string, unknown>>, name: string) => arrays[name] as Float32Array;

const gemm: Build = (input) => {
  const { m = 0, n = 0, k = 0 } = input.shape;
  const arrays = inputsOf(input);
  const feeds = [
    { name: "a", shape: [m, k], values: values(arrays, "a") },
    { name: "b", shape: [k, n], values: values(arrays, "b") },
  ];
  const nodes = [{ operator: "MatMul", inputs: ["a", "b"], output: "c" }];
  return {
    feeds,
    arrange: keep,
    graph: { name: "gemm", inputs: feeds, outputs: [{ name: "c", shape: [m, n] }], nodes },
  };
};

const softmax: Build = (input) => {
  const shape = [input.shape["rows"] ?? 0, input.shape["columns"] ?? 0];
  const feeds = [{ name: "x", shape, values: values(inputsOf(input), "x") }];
  const nodes = [{ operator: "Softmax", inputs: ["x"], output: "y" }];
  return { feeds, arrange: keep, graph: { name: "softmax", inputs: feeds, outputs: [{ name: "y", shape }], nodes } };
};

const mlp: Build = (input) => {
  const { batch = 0, inputs = 0, outputs = 0 } = input.shape;
  const arrays = inputsOf(input);
  const layers = readDenseLayers(arrays, input.shape);
  const constants = layers.flatMap(({ inner, outer, weights, bias }, index) => [
    { name: `w${index}`, shape: [inner, outer], values: weights },
    { name: `b${index}`, shape: [outer], values: bias },
  ]);
  const nodes = layers.flatMap((_, index): GraphNode[] => {
    const last = index + 1 === layers.length;
    const dense = {
      operator: "Gemm",
      inputs: [`h${index}`, `w${index}`, `b${index}`],
      output: last ? "output" : `s${index}`,
    };
    return last ? [dense] : [dense, { operator: "Relu", inputs: [`s${index}`], output: `h${index + 1}` }];
  });
  const feeds = [{ name: "h0", shape: [batch, inputs], values: values(arrays, "input") }];
  const graph = {
    name: "mlp",
    inputs: feeds,
    outputs: [{ name: "output", shape: [batch, outputs] }],
    constants,
    nodes,
  };
  return { feeds, arrange: keep, graph };
};

/** ONNX has channels first, so its arrays are permuted before the contest and its output after it. */
const conv2d: Build = (input) => {
  const { batch = 0, height = 0, width = 0, channels = 0, filters = 0, kernel = 0 } = input.shape;
  const arrays = inputsOf(input);
  const pixels = permuteAxes(values(arrays, "input"), [batch, height, width, channels], [0, 3, 1, 2]);
  const weights = permuteAxes(values(arrays, "weights"), [kernel, kernel, channels, filters], [3, 2, 0, 1]);
  const feeds = [{ name: "x", shape: [batch, channels, height, width], values: pixels }];
  const constants = [{ name: "w", shape: [filters, channels, kernel, kernel], values: weights }];
  const pads = Array<number>(4).fill(Math.floor(kernel / 2));
  const nodes = [{ operator: "Conv", inputs: ["x", "w"], output: "y", attributes: { pads } }];
  const outputs = [{ name: "y", shape: [batch, filters, height, width] }];
  return {
    feeds,
    arrange: (output) => permuteAxes(output, [batch, filters, height, width], [0, 2, 3, 1]),
    graph: { name: "conv2d", inputs: feeds, outputs, constants, nodes },
  };
};

const BUILDS: Readonly<Record<string, Build>> = { gemm, softmax, mlp, conv2d };

/** The case as one ONNX file with the measured operation only. */
export function createOnnxOperation(input: KernelCase): OnnxOperation {
  const build = BUILDS[input.kernel];
  if (build === undefined) throw new RangeError(`it has no operators for '${input.kernel}'`);
  const { graph, ...operation } = build(input);
  return { ...operation, file: writeOnnxGraph(graph), output: graph.outputs[0]?.name ?? "" };
}
