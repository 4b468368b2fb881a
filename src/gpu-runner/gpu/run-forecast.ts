/** Runs that are remembered: one that was delayed, or a nap that was too long, is forgotten after so many. */
const REMEMBERED = 8;

/**
 * Expects of each run of a kernel what the shortest of its last ones took. The first one is left out: where it
 * paid for what the driver compiles, naps by it would make the next ones as long, and those the next.
 */
export class RunForecast {
  readonly #lastMs: number[] = [];
  #isFirst = true;

  /** How long so many runs back to back are expected to take; 0 where nothing is known. */
  expectMs(runs: number): number {
    return this.#lastMs.length === 0 ? 0 : runs * Math.min(...this.#lastMs);
  }

  note(runs: number, tookMs: number): void {
    if (this.#isFirst) {
      this.#isFirst = false;
      return;
    }
    this.#lastMs.push(tookMs / runs);
    if (this.#lastMs.length > REMEMBERED) this.#lastMs.shift();
  }
}
