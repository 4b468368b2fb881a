import type { PlacedModel } from "../../../protocol/link.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { joinTensors } from "../../serving/queue/join-tensors.ts";

/** Different inputs, so that no cache answers, and batches of one size. */
const INPUTS = 64;
const BATCHES = 8;

/** Inputs of a model by a seed, over and over. */
export class SeededRows {
  readonly #inputs: readonly Tensor[][];
  /** By rows, those that were made. */
  readonly #batches = new Map<number, Tensor[][]>();
  #next = 0;

  constructor({ inputs }: Pick<PlacedModel, "inputs">, seed: number) {
    this.#inputs = Array.from({ length: INPUTS }, (_, index) => createSeededInputs(inputs, (seed + index) >>> 0));
  }

  /** The first so many, each by itself. */
  first(count: number): readonly Tensor[][] {
    return this.#inputs.slice(0, count);
  }

  /** Rows that so many bytes have room for; one at least. */
  rowsWithin(bytes: number): number {
    const rowBytes = this.#inputs[0]!.reduce((sum, tensor) => sum + tensor.bytes.byteLength, 0);
    return Math.max(1, Math.floor(bytes / Math.max(1, rowBytes)));
  }

  /** The next so many rows, joined; the inputs have to have rows unless it is one. */
  take(rows: number): readonly Tensor[] {
    const turn = this.#next++;
    if (rows === 1) return this.#inputs[turn % INPUTS]!;
    const made = this.#batches.get(rows) ?? [];
    this.#batches.set(rows, made);
    return (made[turn % BATCHES] ??= joinTensors(this.#from((turn % BATCHES) * rows, rows)));
  }

  #from(first: number, rows: number): Tensor[][] {
    return Array.from({ length: rows }, (_, index) => this.#inputs[(first + index) % INPUTS]!);
  }
}
