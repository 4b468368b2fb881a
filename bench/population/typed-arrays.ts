import { layOutLayers, type MlpLayer, widestLayer } from "../../kernels/mlp/mlp-layers.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import { countForwards, type PopulationCase } from "./population-case.ts";

/**
 * The best plain JavaScript that is known here, on one thread: four sums at a time over typed arrays, in
 * f64 as the language has it (rounding to f32 in between is slower), and the quotient that the
 * AssemblyScript twin takes for tanh, which is faster than `Math.tanh`.
 */
export const contender: Contender<PopulationCase> = async (input) => {
  const { shape } = input;
  const arrays = inputsOf(input) as Readonly<Record<string, Float32Array<ArrayBuffer>>>;
  const [parameters, observations] = [arrays["parameters"]!, arrays["input"]!];
  const layers = layOutLayers(shape);
  const memberLength = layers.at(-1)?.end ?? 0;
  const output = new Float32Array(shape.members * shape.samples * shape.outputs);
  let [before, after] = [new Float32Array(widestLayer(shape)), new Float32Array(widestLayer(shape))];

  const step = async () => {
    for (let item = 0; item < shape.members * shape.samples; item++) {
      const member = Math.floor(item / shape.samples) * memberLength;
      for (let i = 0; i < shape.inputs; i++) before[i] = observations[item * shape.inputs + i]!;
      for (let index = 0; index < layers.length; index++) {
        const layer = layers[index]!;
        applyLayer(parameters, member, layer, before, after);
        if (index + 1 < layers.length) activate(after, layer.pitch, shape.activation);
        const swapped = before;
        before = after;
        after = swapped;
      }
      for (let i = 0; i < shape.outputs; i++) output[item * shape.outputs + i] = before[i]!;
    }
    return output;
  };
  return countForwards(await createBatchEntry(step, 1, { adapter: null }), input);
};

function applyLayer(
  parameters: Float32Array,
  member: number,
  { inner, pitch, weights, bias }: MlpLayer,
  before: Float32Array,
  after: Float32Array,
): void {
  for (let neuron = 0; neuron < pitch; neuron += 4) {
    const start = member + bias + neuron;
    let sum0 = parameters[start]!;
    let sum1 = parameters[start + 1]!;
    let sum2 = parameters[start + 2]!;
    let sum3 = parameters[start + 3]!;
    for (let i = 0, at = member + weights + neuron; i < inner; i++, at += pitch) {
      const x = before[i]!;
      sum0 += x * parameters[at]!;
      sum1 += x * parameters[at + 1]!;
      sum2 += x * parameters[at + 2]!;
      sum3 += x * parameters[at + 3]!;
    }
    after[neuron] = sum0;
    after[neuron + 1] = sum1;
    after[neuron + 2] = sum2;
    after[neuron + 3] = sum3;
  }
}

const RELU = 2;
const TANH = 3;

function activate(row: Float32Array, length: number, activation: number): void {
  if (activation === RELU) for (let i = 0; i < length; i++) row[i] = Math.max(0, row[i]!);
  if (activation === TANH) for (let i = 0; i < length; i++) row[i] = tanh(row[i]!);
}

/** The eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. */
function tanh(value: number): number {
  const x = value > 7.35 ? 7.35 : value < -7.35 ? -7.35 : value;
  const z = x * x;
  const over = 13749310575 + z * (1964187225 + z * (64324260 + z * (675675 + z * (2145 + z))));
  const under = 13749310575 + z * (6547290750 + z * (413513100 + z * (7567560 + z * (45045 + z * 66))));
  return (x * over) / under;
}
