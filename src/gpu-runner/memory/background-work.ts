import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";

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

/** More than so many pieces do not wait: what is queued that long is not wanted any more. */
const MAX_WAITING = 64;

interface Piece {
  readonly sizeBytes: number;
  readonly heldBytes: number;
  readonly run: () => Promise<void>;
}

export interface BackgroundOptions {
  readonly bytesPerSecond: number;
  /** What pieces that have not ended may keep in memory, all together; one alone may keep more. */
  readonly maxHeldBytes: number;
  readonly onError: (error: unknown) => void;
}

/** Migrations that nobody waits for: one after the other, within a budget of bytes a second. */
export class BackgroundWork {
  readonly #options: BackgroundOptions;
  readonly #budget: BandwidthBudget;
  readonly #waiting: Piece[] = [];
  #heldBytes = 0;
  #running: Promise<void> | null = null;
  #done = 0;
  #skipped = 0;
  #isStopped = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#budget = new BandwidthBudget(options.bytesPerSecond);
  }

  /** Queues a piece of work that moves so many bytes, and keeps so many alive until then; false where too much waits already. */
  add(sizeBytes: number, run: () => Promise<void>, heldBytes = 0): boolean {
    const isTooMuch = this.#heldBytes > 0 && this.#heldBytes + heldBytes > this.#options.maxHeldBytes;
    if (this.#isStopped || isTooMuch || this.#waiting.length >= MAX_WAITING) {
      this.#skipped++;
      return false;
    }
    this.#waiting.push({ sizeBytes, heldBytes, run });
    this.#heldBytes += heldBytes;
    this.#running ??= this.#runAll();
    return true;
  }

  /** Settles when nothing waits or runs. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Drops what waits and settles when what runs has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.length = 0;
    await this.idle();
  }

  report(): MemoryReport["background"] {
    const [waiting, done, skipped] = [this.#waiting.length, this.#done, this.#skipped];
    return { bytesPerSecond: this.#options.bytesPerSecond, waiting, done, skipped };
  }

  async #runAll(): Promise<void> {
    // Behind the request that it came of.
    await nextTurn();
    for (let piece = this.#waiting[0]; piece !== undefined; piece = this.#waiting[0]) {
      const waitMs = this.#budget.take(piece.sizeBytes, performance.now());
      // In short steps, so that a stop is not kept waiting.
      if (waitMs > 0) await delay(Math.min(waitMs, 100));
      else {
        this.#waiting.shift();
        await piece.run().catch(this.#options.onError);
        this.#heldBytes -= piece.heldBytes;
        this.#done++;
      }
    }
    this.#running = null;
  }
}
