import { setImmediate } from "node:timers/promises";
import type { LoadClock } from "../../../../../src/gpu-runner/kinds/validation/system-under-test.ts";

interface Waiter {
  readonly atMs: number;
  readonly resolve: () => void;
}

/** A clock that stops during computation, and jumps to the next awaited moment. */
export class SimulatedClock implements LoadClock {
  #nowMs = 0;
  /** Sorted by time, and then by order of arrival. */
  readonly #waiters: Waiter[] = [];
  #isTurning = false;

  now(): number {
    return this.#nowMs;
  }

  async waitUntil(atMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const waiter = { atMs: Math.max(atMs, this.#nowMs), resolve };
      const place = this.#waiters.findLastIndex((other) => other.atMs <= waiter.atMs);
      this.#waiters.splice(place + 1, 0, waiter);
      signal?.addEventListener("abort", () => {
        const index = this.#waiters.indexOf(waiter);
        if (index >= 0) this.#waiters.splice(index, 1);
        resolve();
      });
      if (!this.#isTurning) void this.#turn();
    });
  }

  sleep(ms: number): Promise<void> {
    return this.waitUntil(this.#nowMs + ms);
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    // Whatever follows from a moment is done before the next one.
    await setImmediate();
    for (let next = this.#waiters.shift(); next !== undefined; next = this.#waiters.shift()) {
      this.#nowMs = next.atMs;
      next.resolve();
      await setImmediate();
    }
    this.#isTurning = false;
  }
}
