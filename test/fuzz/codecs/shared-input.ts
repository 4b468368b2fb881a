/** Bytes of an input that are reported; longer ones are cut. */
const TOLD_BYTES = 2 ** 16;
const [COUNT, LENGTH, HEAD] = [0, 1, 2];

/** The input that a thread is at, for another that watches it. */
export class SharedInput {
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(buffer: SharedArrayBuffer) {
    this.#head = new Int32Array(buffer, 0, HEAD);
    this.#bytes = new Uint8Array(buffer, HEAD * 4);
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(HEAD * 4 + TOLD_BYTES);
  }

  tell(input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, TOLD_BYTES));
    Atomics.store(this.#head, LENGTH, Math.min(input.length, TOLD_BYTES));
    Atomics.add(this.#head, COUNT, 1);
  }

  /** Inputs so far. */
  get count(): number {
    return Atomics.load(this.#head, COUNT);
  }

  get input(): Uint8Array {
    return this.#bytes.slice(0, Atomics.load(this.#head, LENGTH));
  }
}
