import type { Rate } from "../http/rate-limiter.ts";

/** Counts amounts against one rate as `RateLimiter` counts requests, without an allocation. */
export class Meter {
  readonly #rate: Rate;
  /** What has been taken and is not worked off. */
  #taken = 0;
  #atMs = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Counts an amount; false for one beyond the rate, which does not count. */
  take(amount: number, nowMs: number): boolean {
    const { perSecond, burst } = this.#rate;
    // The clock may have been set back meanwhile.
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#taken = Math.max(0, this.#taken - (passedMs * perSecond) / 1_000);
    this.#atMs = nowMs;
    if (this.#taken + amount > burst) return false;
    this.#taken += amount;
    return true;
  }
}
