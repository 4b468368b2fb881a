import type { PlacedModel } from "../../../protocol/link.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { joinTensors } from "../../serving/queue/join-tensors.ts";

/** Different inputs, so that no cache answers, and batches of one size. */
const INPUTS = 64;
const BATCHES = 8;

/** Seeded inputs of a model, in an endless cycle. */
export class SeededRows {
  readonly #inputs: readonly Tensor[][];
  /** Batches made so far, by their rows. */
  readonly #batches = new Map<number, Tensor[][]>();
  #next = 0;

  constructor({ inputs }: Pick<PlacedModel, "inputs">, seed: number) {
    this.#inputs = Array.from({ length: INPUTS }, (_, index) => createSeededInputs(inputs, (seed + index) >>> 0));
  }

  /** The first `count` inputs, one by one. */
  first(count: number): readonly Tensor[][] {
    return this.#inputs.slice(0, count);
  }

  /** Number of rows that fit into `bytes`; at least one. */
  rowsWithin(bytes: number): number {
    const rowBytes = this.#inputs[0]!.reduce((sum, tensor) => sum + tensor.bytes.byteLength, 0);
    return Math.max(1, Math.floor(bytes / Math.max(1, rowBytes)));
  }

  /** The next `rows` inputs, joined; more than one needs inputs with a row axis. */
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
