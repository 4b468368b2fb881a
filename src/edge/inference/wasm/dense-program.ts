import type { DenseLayer, DenseNetwork, DenseStep } from "../../models/dense-network.ts";

/** Outputs of a panel and of a narrow one, as in assembly/dense-network.ts. */
const PANEL = 32;
const NARROW = 4;
/** Outputs of a block of bytes, and inputs that it processes at once. */
const ROWS = 8;
const BYTES = 16;
const LARGEST = 127;

/**
 * Writes a layer's weights in panels of 32 outputs and then of 4, in a panel input by input. `target` holds
 * `inputs` (a multiple of 4) times the outputs rounded up to 4, and zeros where there are no weights.
 */
function layOutFloats({ weights, outputs, ...layer }: DenseLayer, target: Float32Array, inputs: number): void {
  const padded = target.length / inputs;
  let at = 0;
  for (let first = 0, width = 0; first < padded; first += width) {
    width = first + PANEL <= padded ? PANEL : NARROW;
    const used = Math.min(width, outputs - first);
    for (let input = 0; input < layer.inputs; input++) {
      const from = input * outputs + first;
      target.set(weights.subarray(from, from + used), at + input * width);
    }
    at += inputs * width;
  }
}

/**
 * Writes a layer's weights as bytes, −127 … 127 times a scale for each output (the largest of its weights over
 * 127), in blocks of 8 outputs, in a block by 16 inputs, then output by output. `factors` holds three rows as long
 * as the outputs rounded up to 8: scale, scale times the sum of its bytes, and bias.
 */
function layOutBytes(layer: DenseLayer, target: Int8Array, factors: Float32Array, inputs: number): void {
  const { weights, outputs, bias } = layer;
  const padded = factors.length / 3;
  for (let output = 0; output < outputs; output++) {
    let most = 0;
    for (let i = output; i < weights.length; i += outputs) most = Math.max(most, Math.abs(weights[i]!));
    const scale = most / LARGEST;
    const block = Math.floor(output / ROWS) * ROWS * inputs + (output % ROWS) * BYTES;
    let sum = 0;
    for (let input = 0; input < layer.inputs; input++) {
      const step = scale > 0 ? Math.round(weights[input * outputs + output]! / scale) : 0;
      target[block + Math.floor(input / BYTES) * ROWS * BYTES + (input % BYTES)] = step;
      sum += step;
    }
    factors[output] = scale;
    factors[padded + output] = scale * sum;
    factors[2 * padded + output] = bias[output]!;
  }
}

/** Number format of the weights' products; activations are float32 between the layers either way. */
export type Precision = "fp32" | "int8";

/** A network in memory of its own, ready to compute. */
export interface DenseProgram {
  /** Size of that memory. */
  readonly sizeBytes: number;
  /** Computes `rows` rows of the network, one after the other. */
  run(input: Float32Array, rows: number): Float32Array<ArrayBuffer>;
}

/** Exports of assembly/dense-network.ts; addresses are in bytes. */
interface Exports {
  denseFloat(weights: number, bias: number, before: number, inputs: number, after: number, outputs: number): void;
  denseInt8(
    weights: number,
    factors: number,
    before: number,
    width: number,
    inputs: number,
    quantised: number,
    after: number,
    outputs: number,
  ): void;
  relu(row: number, width: number): void;
  leakyRelu(row: number, width: number, slope: number): void;
  tanh(row: number, width: number): void;
  sigmoid(row: number, width: number): void;
  softmax(row: number, width: number): void;
}

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = 4;
/** Bytes of a cache line, which exceed any vector. */
const ALIGNMENT = 64;
/** Layers of fewer outputs stay float32: to quantise their row would cost more than it saves. */
const QUANTISED_OUTPUTS = 32;

/** Lays a network out in memory; `module` is assembly/dense-network.ts, compiled. */
export function openDenseProgram(
  module: WebAssembly.Module,
  network: DenseNetwork,
  precision: Precision,
): DenseProgram {
  const room = createRoom();
  const rowElements = padTo(widestRow(network), 16);
  const rows = [room.take(FLOAT_BYTES * rowElements), room.take(FLOAT_BYTES * rowElements)] as const;
  const quantised = room.take(rowElements);
  const placed = network.steps.map((step) => placeStep(step, precision, room.take));
  const pages = Math.ceil(room.sizeBytes() / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const program = new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Exports;
  for (const step of placed) step.fill(memory.buffer);

  const { inputs } = network;
  const paddedInputs = padTo(inputs, 16);
  const outputs = network.outputShape.reduce((product, size) => product * size, 1);
  const views = rows.map((at) => new Float32Array(memory.buffer, at, rowElements));
  const calls = planCalls(program, placed, network, rows, quantised);
  const last = views[network.steps.filter(({ kind }) => kind === "dense").length % 2]!;
  return {
    sizeBytes: memory.buffer.byteLength,
    run(input, count) {
      const found = new Float32Array(count * outputs);
      for (let row = 0; row < count; row++) {
        views[0]!.set(input.subarray(row * inputs, (row + 1) * inputs));
        views[0]!.fill(0, inputs, paddedInputs);
        for (const call of calls) call();
        found.set(last.subarray(0, outputs), row * outputs);
      }
      return found;
    },
  };
}

/** A step with the addresses of its weights, and the function that writes them. */
interface PlacedStep {
  readonly step: DenseStep;
  readonly weights: number;
  readonly further: number;
  readonly isQuantised: boolean;
  fill(memory: ArrayBuffer): void;
}

function placeStep(step: DenseStep, precision: Precision, take: (bytes: number) => number): PlacedStep {
  if (step.kind !== "dense") return { step, weights: 0, further: 0, isQuantised: false, fill: () => {} };
  const isQuantised = precision === "int8" && step.outputs >= QUANTISED_OUTPUTS;
  const [inputs, outputs] = paddedSizes(step, isQuantised);
  const weights = take(isQuantised ? inputs * outputs : FLOAT_BYTES * inputs * outputs);
  const further = take(FLOAT_BYTES * (isQuantised ? 3 : 1) * outputs);
  const fill = (memory: ArrayBuffer) => {
    if (isQuantised) {
      const factors = new Float32Array(memory, further, 3 * outputs);
      layOutBytes(step, new Int8Array(memory, weights, inputs * outputs), factors, inputs);
    } else {
      layOutFloats(step, new Float32Array(memory, weights, inputs * outputs), inputs);
      new Float32Array(memory, further, outputs).set(step.bias);
    }
  };
  return { step, weights, further, isQuantised, fill };
}

/** Sizes of a layer with the program's padding. */
function paddedSizes({ inputs, outputs }: DenseLayer, isQuantised: boolean): [number, number] {
  return isQuantised ? [padTo(inputs, 16), padTo(outputs, 8)] : [padTo(inputs, 4), padTo(outputs, 4)];
}

/** One call for each step; layers move data from one row of neurons to the other, all other steps work in place. */
function planCalls(
  program: Exports,
  placed: readonly PlacedStep[],
  { inputs }: DenseNetwork,
  rows: readonly [number, number],
  quantised: number,
): (() => void)[] {
  let width = inputs;
  let [before, after] = rows;
  return placed.map(({ step, weights, further, isQuantised }) => {
    const [row, next] = [before, after];
    const elements = width;
    switch (step.kind) {
      case "dense": {
        const [padded, outputs] = paddedSizes(step, isQuantised);
        [before, after] = [after, before];
        width = step.outputs;
        return isQuantised
          ? () => program.denseInt8(weights, further, row, elements, padded, quantised, next, outputs)
          : () => program.denseFloat(weights, further, row, padded, next, outputs);
      }
      case "leakyRelu":
        return () => program.leakyRelu(row, elements, step.slope);
      case "relu":
      case "tanh":
      case "sigmoid":
      case "softmax":
        return () => program[step.kind](row, elements);
    }
  });
}

function widestRow({ inputs, steps }: DenseNetwork): number {
  return Math.max(inputs, ...steps.map((step) => (step.kind === "dense" ? step.outputs : 0)));
}

/** Allocates addresses one behind the other, and sums their bytes. */
function createRoom(): { readonly take: (bytes: number) => number; readonly sizeBytes: () => number } {
  let end = 0;
  const take = (bytes: number) => {
    const at = end;
    end += padTo(bytes, ALIGNMENT);
    return at;
  };
  return { take, sizeBytes: () => end };
}

function padTo(size: number, multiple: number): number {
  return Math.ceil(size / multiple) * multiple;
}
