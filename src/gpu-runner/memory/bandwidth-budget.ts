/**
 * How much background work may move: a bucket of bytes that fills at a rate and holds one second's worth.
 * What is larger than the bucket is let through when it is full, and paid off afterwards. The clock is
 * passed in, in milliseconds.
 */
export class BandwidthBudget {
  readonly #bytesPerMs: number;
  readonly #capacityBytes: number;
  #bytes: number;
  #atMs = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
    this.#capacityBytes = bytesPerSecond;
    this.#bytes = bytesPerSecond;
  }

  /** Takes so many bytes and gives 0, or gives the milliseconds to wait before asking again. */
  take(sizeBytes: number, nowMs: number): number {
    const filledBytes = this.#bytes + Math.max(0, nowMs - this.#atMs) * this.#bytesPerMs;
    this.#bytes = Math.min(this.#capacityBytes, filledBytes);
    this.#atMs = Math.max(this.#atMs, nowMs);
    const neededBytes = Math.min(sizeBytes, this.#capacityBytes);
    if (this.#bytes < neededBytes) return Math.ceil((neededBytes - this.#bytes) / this.#bytesPerMs);
    this.#bytes -= sizeBytes;
    return 0;
  }
}
