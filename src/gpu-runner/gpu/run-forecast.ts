/** Runs that are remembered: one that was delayed, or a nap that was too long, is forgotten after so many. */
const REMEMBERED = 8;

/** Expects of each run of a kernel what the shortest of its last ones took. */
export class RunForecast {
  readonly #lastMs: number[] = [];

  /** Tells the work how long so many runs are expected to take, 0 where nothing is known, and times it. */
  async observe<Result>(runs: number, work: (expectedMs: number) => Promise<Result>): Promise<Result> {
    const expectedMs = this.#lastMs.length === 0 ? 0 : runs * Math.min(...this.#lastMs);
    const startedAt = performance.now();
    const result = await work(expectedMs);
    this.#lastMs.push((performance.now() - startedAt) / runs);
    if (this.#lastMs.length > REMEMBERED) this.#lastMs.shift();
    return result;
  }
}
