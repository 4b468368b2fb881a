import type { NarrowBits } from "../../../../kernels/network/tiled-operators.ts";
import type { Constant } from "./network-value.ts";

/** Constant viewed as outputs × inputs: index of each weight in the constant, -1 for padding. */
export interface WeightMatrix {
  readonly outputs: number;
  readonly inputs: number;
  readonly at: (output: number, input: number) => number;
}

/**
 * Memory order of a matrix. `outputs`: fours of outputs × inputs × 4; `channels`: inputs × fours of outputs × 4.
 * `inputs`, for few inputs: fours of inputs × outputs × 4, in unchanged floats, with one scale for each output.
 */
export type WeightOrder = "outputs" | "channels" | "inputs";

/** Location of weights, as fields of an operator. */
export type PlacedWeights = Readonly<Record<"weights" | "weightType" | "scales" | "scaleBlock", number>>;

/** `weightType` of an operator, by bits. */
export const WEIGHT_TYPES = { 32: 0, 16: 1, 8: 2, 4: 3 } as const;
/** Bits of the rows that products by such weights read in the weights' own arithmetic. */
export function narrowBitsOf(weightType: number): NarrowBits {
  return weightType === WEIGHT_TYPES[16] ? 16 : 8;
}

/** Sizes of blocks of inputs that may share a scale. */
const BLOCKS = [16, 32, 64, 128, 256];

/** Weights of a network in the layout of the kernels: 32-bit words, four of a matrix together, still packed. */
export class WeightPool {
  readonly #pieces: Uint32Array[] = [];
  #words = 0;

  /** All contents, padded to a multiple of 16 bytes. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint32Array(Math.max(4, this.#words));
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += alignedWords(piece);
    }
    return new Uint8Array(all.buffer);
  }

  /** Appends floats; returns their offset in words. */
  putFloats(values: ArrayLike<number>): number {
    return this.#put(new Uint32Array(Float32Array.from(values).buffer));
  }

  /** Appends a matrix and any scales in the same order, with blocks in place of inputs. */
  putMatrix(constant: Constant, matrix: WeightMatrix, by: WeightOrder): PlacedWeights {
    const { grain } = constant;
    const fours = SLOTS[by](matrix);
    const block =
      grain === undefined || grain.bits === 16
        ? matrix.inputs
        : findBlock(grain.scales, matrix, by === "inputs" ? [] : BLOCKS);
    if (grain === undefined || block === null) {
      const slots = by === "inputs" ? inOrder(matrix) : fours;
      const floats = Float32Array.from(slots, (at) => (at < 0 ? 0 : constant.floats[at]!));
      const weights = this.#put(new Uint32Array(floats.buffer));
      return { weights, weightType: WEIGHT_TYPES[32], scales: -1, scaleBlock: matrix.inputs };
    }
    if (grain.bits === 16) {
      const halves = Float16Array.from(fours, (at) => (at < 0 ? 0 : constant.floats[at]!));
      const weights = this.#put(new Uint32Array(halves.buffer));
      return { weights, weightType: WEIGHT_TYPES[16], scales: -1, scaleBlock: matrix.inputs };
    }
    const levels = Int8Array.from(fours, (at) => (at < 0 ? 0 : grain.levels[at]!));
    const weights = this.#put(grain.bits === 8 ? new Uint32Array(levels.buffer) : packNibbles(levels));
    const scales = this.putFloats(scalesOf(grain.scales, matrix, block, by));
    return { weights, weightType: WEIGHT_TYPES[grain.bits], scales, scaleBlock: block };
  }

  #put(words: Uint32Array): number {
    const offset = this.#words;
    this.#pieces.push(words);
    this.#words += alignedWords(words);
    return offset;
  }
}

function alignedWords({ length }: Uint32Array): number {
  return Math.ceil(length / 4) * 4;
}

function byOutputs({ outputs, inputs, at }: WeightMatrix): Int32Array {
  const slots = new Int32Array(Math.ceil(outputs / 4) * inputs * 4);
  for (let slot = 0; slot < slots.length; slot++) {
    const output = 4 * Math.floor(slot / (4 * inputs)) + (slot % 4);
    slots[slot] = output < outputs ? at(output, Math.floor(slot / 4) % inputs) : -1;
  }
  return slots;
}

function byInputs({ outputs, inputs, at }: WeightMatrix): Int32Array {
  const slots = new Int32Array(Math.ceil(inputs / 4) * outputs * 4);
  for (let slot = 0; slot < slots.length; slot++) {
    const input = 4 * Math.floor(slot / (4 * outputs)) + (slot % 4);
    slots[slot] = input < inputs ? at(Math.floor(slot / 4) % outputs, input) : -1;
  }
  return slots;
}

function byChannels({ outputs, inputs, at }: WeightMatrix): Int32Array {
  const padded = Math.ceil(outputs / 4) * 4;
  return Int32Array.from({ length: inputs * padded }, (_, slot) => {
    const output = slot % padded;
    return output < outputs ? at(output, Math.floor(slot / padded)) : -1;
  });
}

const SLOTS = { outputs: byOutputs, channels: byChannels, inputs: byInputs } as const;

function inOrder({ outputs, inputs, at }: WeightMatrix): Int32Array {
  return Int32Array.from({ length: outputs * inputs }, (_, slot) => at(Math.floor(slot / inputs), slot % inputs));
}

/** Number of inputs of every output that share a scale; null for layouts that the kernels do not support. */
function findBlock(
  scales: Float32Array,
  { outputs, inputs, at }: WeightMatrix,
  known: readonly number[],
): number | null {
  const isConstantOver = (block: number) => {
    for (let output = 0; output < outputs; output++) {
      if (at(output, 0) < 0) continue;
      for (let input = 0; input < inputs; input++) {
        if (scales[at(output, input)] !== scales[at(output, input - (input % block))]) return false;
      }
    }
    return true;
  };
  const blocks = known.filter((block) => block < inputs);
  const sizes = [inputs, ...blocks.toReversed()];
  return sizes.find(isConstantOver) ?? null;
}

function scalesOf(
  scales: Float32Array,
  { outputs, inputs, at }: WeightMatrix,
  block: number,
  by: WeightOrder,
): Float32Array {
  const blocks = Math.ceil(inputs / block);
  const scaleAt = (output: number, index: number) => {
    const found = output < outputs ? at(output, index * block) : -1;
    return found < 0 ? 0 : scales[found]!;
  };
  if (by !== "outputs") {
    const padded = Math.ceil(outputs / 4) * 4;
    return Float32Array.from({ length: blocks * padded }, (_, slot) =>
      scaleAt(slot % padded, Math.floor(slot / padded)),
    );
  }
  return Float32Array.from({ length: Math.ceil(outputs / 4) * blocks * 4 }, (_, slot) =>
    scaleAt(4 * Math.floor(slot / (4 * blocks)) + (slot % 4), Math.floor(slot / 4) % blocks),
  );
}

/** Packs eight levels into a word, the lowest bits first. */
function packNibbles(levels: Int8Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(levels.length / 8));
  for (const [index, level] of levels.entries()) words[index >> 3]! |= (level & 15) << (4 * (index & 7));
  return words;
}
