import { setImmediate as nextTurn } from "node:timers/promises";

interface Due {
  readonly atMs: number;
  /** Order of scheduling: of events due at the same time, the first scheduled runs first. */
  readonly turn: number;
  readonly run: () => void;
}

/**
 * Simulated time. It stands still while a due event runs and until every promise that it settles has been followed up;
 * then it jumps to the next event.
 * So code that takes a clock and waits for promises runs unchanged.
 */
export class SimClock {
  nowMs = 0;
  /** A binary heap: no event is due later than its two children, at twice its index plus one and plus two. */
  readonly #heap: Due[] = [];
  #turns = 0;

  at(atMs: number, run: () => void): void {
    const due: Due = { atMs: Math.max(atMs, this.nowMs), turn: this.#turns++, run };
    let place = this.#heap.push(due) - 1;
    while (place > 0) {
      const above = (place - 1) >>> 1;
      if (!isSooner(due, this.#heap[above]!)) break;
      this.#heap[place] = this.#heap[above]!;
      place = above;
    }
    this.#heap[place] = due;
  }

  delay(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.at(this.nowMs + durationMs, resolve));
  }

  /** Runs all events that are due until this time, and ends at it. */
  async runUntil(endMs: number): Promise<void> {
    await nextTurn();
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= endMs; next = this.#heap[0]) {
      this.#takeFirst();
      this.nowMs = next.atMs;
      next.run();
      await nextTurn();
    }
    this.nowMs = endMs;
  }

  #takeFirst(): void {
    const last = this.#heap.pop()!;
    const size = this.#heap.length;
    if (size === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= size) break;
      if (below + 1 < size && isSooner(this.#heap[below + 1]!, this.#heap[below]!)) below++;
      if (!isSooner(this.#heap[below]!, last)) break;
      this.#heap[place] = this.#heap[below]!;
      place = below;
    }
    this.#heap[place] = last;
  }
}

function isSooner(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.turn < b.turn);
}
