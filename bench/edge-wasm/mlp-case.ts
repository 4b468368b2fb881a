import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { TensorSpec } from "../../src/protocol/models/model.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import { typedView } from "../../src/protocol/wire/tensor.ts";
import type { Precision } from "../../src/edge/inference/wasm/dense-program.ts";
import { writeOnnxGraph } from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";

/** A dense network with relu between its layers, asked one row at a time. */
export interface MlpCase {
  /** Elements of a row, from the input to the output. */
  readonly widths: readonly number[];
  /** Precision of ours; peers have float32. */
  readonly precision: Precision;
}

interface Layer {
  readonly inputs: number;
  readonly outputs: number;
  /** [inputs, outputs] row by row. */
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

/** Seed of the inputs, the same for all. */
export const SEED = 1;

export function nameModel({ widths }: MlpCase): string {
  return `mlp-${widths.join("-")}`;
}

export function specsOf({ widths }: MlpCase): Record<"inputs" | "outputs", TensorSpec[]> {
  const spec = (name: string, width: number): TensorSpec => ({ name, dtype: "float32", shape: [1, width] });
  return { inputs: [spec("x", widths[0] ?? 0)], outputs: [spec("y", widths.at(-1) ?? 0)] };
}

export function inputOf(input: MlpCase): Float32Array<ArrayBuffer> {
  const [tensor] = createSeededInputs(specsOf(input).inputs, SEED);
  if (tensor === undefined) throw new TypeError("the case has no input");
  return Float32Array.from(typedView(tensor) as Float32Array);
}

/** The network as an ONNX file: Gemm, Relu, …, Gemm. */
export function writeModel(input: MlpCase): Uint8Array<ArrayBuffer> {
  const layers = layersOf(input);
  const value = (name: string, width: number) => ({ name, shape: [1, width] });
  const sumOf = (index: number) => (index === layers.length - 1 ? "y" : `sum${index}`);
  return writeOnnxGraph({
    name: nameModel(input),
    inputs: [value("x", input.widths[0] ?? 0)],
    outputs: [value("y", input.widths.at(-1) ?? 0)],
    constants: layers.flatMap(({ inputs, outputs, weights, bias }, index) => [
      { name: `w${index}`, shape: [inputs, outputs], values: weights },
      { name: `b${index}`, shape: [outputs], values: bias },
    ]),
    nodes: layers.flatMap((_, index) => {
      const from = index === 0 ? "x" : `hidden${index - 1}`;
      const gemm = { operator: "Gemm", inputs: [from, `w${index}`, `b${index}`], output: sumOf(index) };
      const relu = { operator: "Relu", inputs: [sumOf(index)], output: `hidden${index}` };
      return index === layers.length - 1 ? [gemm] : [gemm, relu];
    }),
  });
}

/** Rounding errors of float32, and of weights and activations of a byte. */
const TOLERANCES: Record<Precision, number> = { fp32: 1e-4, int8: 0.05 };

/** Throws where an output's error against the f64 reference exceeds its precision's, as a share of the largest. */
export function checkOutput(input: MlpCase, output: Float32Array): void {
  const wanted = computeReference(input);
  if (output.length !== wanted.length) throw new Error(`it has ${output.length} elements, not ${wanted.length}`);
  const scale = Math.max(...wanted.map(Math.abs));
  const error = Math.max(...wanted.map((value, i) => Math.abs(value - output[i]!))) / scale;
  if (!(error <= TOLERANCES[input.precision])) throw new Error(`it is off by ${error} of the largest`);
}

function computeReference(input: MlpCase): number[] {
  const layers = layersOf(input);
  return layers.reduce<number[]>(
    (row, { outputs, weights, bias }, index) =>
      Array.from({ length: outputs }, (_, output) => {
        const sum = row.reduce((total, value, i) => total + value * weights[i * outputs + output]!, bias[output]!);
        return index === layers.length - 1 ? sum : Math.max(sum, 0);
      }),
    [...inputOf(input)],
  );
}

/** Weights of He's size, so that rows neither vanish nor grow. */
function layersOf({ widths }: MlpCase): Layer[] {
  return widths.slice(1).map((outputs, index) => {
    const inputs = widths[index] ?? 0;
    const size = Math.sqrt(6 / inputs);
    const weights = seededUniform(index + 1, 0, inputs * outputs).map((value) => size * value);
    return { inputs, outputs, weights, bias: seededUniform(index + 1, 1, outputs).map((value) => value / 10) };
  });
}
