import { setImmediate as nextTurn } from "node:timers/promises";

interface Due {
  readonly atMs: number;
  /** What was put down first goes first of what is due at one time. */
  readonly turn: number;
  readonly run: () => void;
}

/**
 * Simulated time. It stands still while anything is done that was due, and then jumps to what is due next: whatever
 * promises an event settles has been followed up before the time goes on. So code that takes a clock and waits for
 * promises runs as it is.
 */
export class SimClock {
  nowMs = 0;
  /** A binary heap: none is due later than those at twice its place and one or two more. */
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

  /** Goes on until the time has come, or nothing is due before it. */
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
