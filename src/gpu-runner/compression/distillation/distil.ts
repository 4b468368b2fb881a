import { countElements, type OnnxModel, type OnnxValue } from "../../../onnx/onnx-model.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { sfc32 } from "../../../stats/random/seeded.ts";
import { distillationLoss, type DistillationWeights, squaredLoss } from "./distillation-loss.ts";
import { type DenseLayer, type Extent, type Parameter, sizeOf, type StudentLayer } from "./student-layer.ts";
import { buildStudent, type RecipeLayer, runStudent, writeStudent } from "./student.ts";

const [MOMENTUM, SPREAD, EPSILON] = [0.9, 0.999, 1e-8];

/**
 * Moves parameters against their gradients, and clears these.
 * Source: Adam, Kingma and Ba 2015, arXiv:1412.6980.
 */
class Adam {
  readonly #moving: readonly { parameter: Parameter; mean: Float64Array; square: Float64Array }[];
  readonly #rate: number;
  #steps = 0;

  constructor(parameters: readonly Parameter[], rate: number) {
    this.#rate = rate;
    this.#moving = parameters.map((parameter) => ({
      parameter,
      mean: new Float64Array(parameter.values.length),
      square: new Float64Array(parameter.values.length),
    }));
  }

  step(): void {
    this.#steps++;
    const [less, lessSquare] = [1 - MOMENTUM ** this.#steps, 1 - SPREAD ** this.#steps];
    for (const { parameter, mean, square } of this.#moving) {
      const { values, gradients } = parameter;
      for (let at = 0; at < values.length; at++) {
        const slope = gradients[at]!;
        const [average, spread] = [
          MOMENTUM * mean[at]! + (1 - MOMENTUM) * slope,
          SPREAD * square[at]! + (1 - SPREAD) * slope * slope,
        ];
        [mean[at], square[at]] = [average, spread];
        values[at]! -= (this.#rate * average) / less / (Math.sqrt(spread / lessSquare) + EPSILON);
      }
      gradients.fill(0);
    }
  }
}

/** Training data of a student. */
export interface Lessons {
  /** Rows of the teacher's input, one after the other. */
  readonly inputs: Float32Array;
  /** Logits of the teacher for them, rows × classes; or its numbers, rows × outputs. */
  readonly logits: Float32Array;
  /** Whether the outputs of a row are logits of classes; otherwise each is a number of its own. */
  readonly areClasses: boolean;
  /** Class of each row; null where only the teacher counts. */
  readonly labels: ArrayLike<number> | null;
}

/** Training settings. The same options, lessons and seed give the same student. */
export interface DistilOptions extends DistillationWeights {
  readonly recipe: readonly RecipeLayer[];
  readonly epochs: number;
  readonly batchRows: number;
  readonly learningRate: number;
  readonly seed: number;
}

/** Student, and the mean training loss of each epoch. */
export interface Distilled {
  readonly model: OnnxModel;
  readonly losses: readonly number[];
}

/**
 * Trains a small network on a teacher's answers, and returns it with the teacher's input and output. Awaits `onEpoch`
 * after each epoch; an error from it ends the training. Throws a `ProblemError` where the teacher does not have one
 * input (rows of numbers, signals or images) and one output, or where a recipe does not fit them. The student of a teacher
 * of numbers learns each of them by its own mean and deviation, by squared differences.
 */
export async function distil(
  teacher: OnnxModel,
  lessons: Lessons,
  options: DistilOptions,
  onEpoch: (epoch: number, loss: number) => void | Promise<void> = () => {},
): Promise<Distilled> {
  const { input, output, extent, axes, classes } = signatureOf(teacher);
  const conv = options.recipe.findIndex(({ kind }) => kind !== "dense");
  if (axes === 0 && conv >= 0) throw refuseStep(conv, "the inputs are neither signals nor images");
  const spread = options.recipe.findIndex(
    ({ kind }, at) => kind !== "dense" && options.recipe[at - 1]?.kind === "dense",
  );
  if (spread >= 0) throw refuseStep(spread, "nothing but dense layers can follow a dense one");
  const layers = buildStudent(extent, options.recipe, classes, options.seed);
  const adam = new Adam(
    layers.flatMap(({ parameters }) => [...parameters]),
    options.learningRate,
  );
  const inputs = channelsLast(lessons.inputs, extent);
  const spreads = lessons.areClasses ? null : spreadsOf(lessons.logits, classes);
  const taught = { ...lessons, inputs, logits: spreads === null ? lessons.logits : normalise(lessons.logits, spreads) };
  const order = Uint32Array.from({ length: lessons.logits.length / classes }, (_, row) => row);
  const draw = sfc32(options.seed ^ 0x9e37_79b9);
  const losses: number[] = [];
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    shuffle(order, draw);
    let sum = 0;
    for (let from = 0; from < order.length; from += options.batchRows) {
      const rows = order.subarray(from, from + options.batchRows);
      sum +=
        learn(layers, gather(taught, rows, sizeOf(extent), classes), classes, lessons.areClasses ? options : null) *
        rows.length;
      adam.step();
    }
    losses.push(sum / order.length);
    await onEpoch(epoch, sum / order.length);
  }
  if (spreads !== null) undoNormalisation(layers.at(-1) as DenseLayer, spreads);
  return { model: writeStudent(layers, axes, input, output), losses };
}

/** Mean and standard deviation of each output over the lessons; the deviation of a constant is 1. */
type Spreads = readonly { readonly mean: number; readonly deviation: number }[];

function spreadsOf(values: Float32Array, outputs: number): Spreads {
  const rows = values.length / outputs;
  return Array.from({ length: outputs }, (_, output) => {
    let [mean, squares] = [0, 0];
    for (let row = 0; row < rows; row++) mean += values[row * outputs + output]! / rows;
    for (let row = 0; row < rows; row++) squares += (values[row * outputs + output]! - mean) ** 2 / rows;
    return { mean, deviation: Math.sqrt(squares) || 1 };
  });
}

function normalise(values: Float32Array, spreads: Spreads): Float32Array {
  return values.map((value, at) => {
    const { mean, deviation } = spreads[at % spreads.length]!;
    return (value - mean) / deviation;
  });
}

/** Makes the last layer answer in the teacher's numbers. */
function undoNormalisation({ parameters: [matrix, bias] }: DenseLayer, spreads: Spreads): void {
  const inputs = matrix.values.length / spreads.length;
  for (const [output, { mean, deviation }] of spreads.entries()) {
    for (let input = 0; input < inputs; input++) matrix.values[output * inputs + input]! *= deviation;
    bias.values[output] = bias.values[output]! * deviation + mean;
  }
}

interface Batch {
  readonly inputs: Float64Array;
  readonly logits: Float64Array;
  readonly labels: Int32Array | null;
}

/** Adds a batch's gradients to the layers' parameters, and returns its loss; `weights` is null for numbers. */
function learn(
  layers: readonly StudentLayer[],
  batch: Batch,
  classes: number,
  weights: DistillationWeights | null,
): number {
  const answer = runStudent(layers, batch.inputs, batch.logits.length / classes);
  const { loss, gradient } =
    weights === null
      ? squaredLoss(answer, batch.logits)
      : distillationLoss(answer, batch.logits, batch.labels, classes, weights);
  layers.reduceRight((slope, layer) => layer.backward(slope), gradient);
  return loss;
}

function gather(
  { inputs, logits, labels }: Omit<Lessons, "areClasses" | "inputs"> & { readonly inputs: Float64Array },
  rows: Uint32Array,
  size: number,
  classes: number,
): Batch {
  const batch = { inputs: new Float64Array(rows.length * size), logits: new Float64Array(rows.length * classes) };
  for (const [at, row] of rows.entries()) {
    batch.inputs.set(inputs.subarray(row * size, (row + 1) * size), at * size);
    batch.logits.set(logits.subarray(row * classes, (row + 1) * classes), at * classes);
  }
  return { ...batch, labels: labels && Int32Array.from(rows, (row) => labels[row]!) };
}

/** Fisher and Yates shuffle, in place. */
function shuffle(order: Uint32Array, draw: (below: number) => number): void {
  for (let last = order.length - 1; last > 0; last--) {
    const other = draw(last + 1);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
}

/** Converts rows of channels × pixels to rows of pixels × channels. */
function channelsLast(values: Float32Array, extent: Extent): Float64Array {
  const { channels } = extent;
  const [size, pixels] = [sizeOf(extent), sizeOf(extent) / channels];
  return Float64Array.from(values, (_, place) => {
    const [row, within] = [Math.floor(place / size), place % size];
    return values[row * size + (within % channels) * pixels + Math.floor(within / channels)]!;
  });
}

interface Signature {
  readonly input: OnnxValue;
  readonly output: OnnxValue;
  readonly extent: Extent;
  /** Number of axes besides rows and channels. */
  readonly axes: number;
  readonly classes: number;
}

function signatureOf({ inputs, outputs }: OnnxModel): Signature {
  const [input, output] = [inputs[0], outputs[0]];
  const sizes = (value: OnnxValue) => value.shape.slice(1).filter((size) => typeof size === "number");
  const fits =
    inputs.length === 1 &&
    outputs.length === 1 &&
    [input!, output!].every((value) => value.dtype === "float32" && sizes(value).length === value.shape.length - 1) &&
    input!.shape.length >= 2 &&
    input!.shape.length <= 4 &&
    output!.shape.length >= 2;
  if (!fits)
    throw new ProblemError(
      "invalid-model",
      "A teacher has one float32 input [rows, features], [rows, channels, length] or [rows, channels, height, width]" +
        " and one float32 output [rows, …].",
    );
  const [channels, ...places] = sizes(input!);
  const [width = 1, height = 1] = places.toReversed();
  const extent = { height, width, channels: channels! };
  return { input: input!, output: output!, extent, axes: places.length, classes: countElements(sizes(output!)) };
}

function refuseStep(index: number, message: string): ProblemError {
  return new ProblemError("invalid-request", "The recipe does not fit the model.", {
    errors: [{ pointer: `#/recipe/${index}`, message }],
  });
}
