import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";

/**
 * Bandwidth limit of background work: a token bucket of bytes that holds one second's worth. A larger piece passes when
 * the bucket is full, and is paid off afterwards. The clock is an argument, in milliseconds.
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

  /** Takes this many bytes and returns 0, or returns the milliseconds to wait before the next try. */
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

/** Limit of queued pieces: one that would wait longer is no longer useful. */
const MAX_WAITING = 64;

interface Piece {
  readonly sizeBytes: number;
  readonly heldBytes: number;
  readonly run: () => Promise<void>;
}

export interface BackgroundOptions {
  readonly bytesPerSecond: number;
  /** Memory limit of all pieces together that have not ended; a single piece may exceed it. */
  readonly maxHeldBytes: number;
  readonly onError: (error: unknown) => void;
}

/** Background migrations: one after the other, within a budget of bytes per second. */
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

  /**
   * Queues a piece of work that moves this many bytes, and holds `heldBytes` until its end; false where the queue is
   * full.
   */
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

  /** Settles when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Drops queued pieces and settles when the running one has ended. */
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
    // Runs after the request that caused it.
    await nextTurn();
    for (let piece = this.#waiting[0]; piece !== undefined; piece = this.#waiting[0]) {
      const waitMs = this.#budget.take(piece.sizeBytes, performance.now());
      // Sleeps in short steps, so that a stop is not delayed.
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
