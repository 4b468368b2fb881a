import {
  addToDistribution,
  mergeDistributions,
  type OpenDistribution,
  openDistribution,
} from "../../../stats/distribution/distribution.ts";

/** For how long something was under way, however many at once; all times in milliseconds of one monotonic clock. */
export class BusyClock {
  #underWay = 0;
  #sinceMs = 0;
  #busyMs = 0;

  begin(nowMs: number): void {
    if (this.#underWay++ === 0) this.#sinceMs = nowMs;
  }

  end(nowMs: number): void {
    if (--this.#underWay === 0) this.#busyMs += nowMs - this.#sinceMs;
  }

  /** Milliseconds since the last cut. */
  cut(nowMs: number): number {
    const busyMs = this.peek(nowMs);
    this.#busyMs = 0;
    this.#sinceMs = nowMs;
    return busyMs;
  }

  /** The same without a cut. */
  peek(nowMs: number): number {
    return this.#busyMs + (this.#underWay > 0 ? nowMs - this.#sinceMs : 0);
  }
}

/** What one device's queue did in a span, in milliseconds where it is a time. */
export interface ServingTally {
  requests: number;
  refused: number;
  errors: number;
  batches: number;
  rows: number;
  busyMs: number;
  computeMs: number;
  transferMs: number;
  /** Most requests that waited at once. */
  longestWaiting: number;
  readonly queueMs: OpenDistribution;
}

function createTally(): ServingTally {
  return {
    requests: 0,
    refused: 0,
    errors: 0,
    batches: 0,
    rows: 0,
    busyMs: 0,
    computeMs: 0,
    transferMs: 0,
    longestWaiting: 0,
    queueMs: openDistribution(),
  };
}

/** Counts what a device's queue does, but for probes of the watch, which it is not told of. */
export class ServingMeter {
  readonly #busy = new BusyClock();
  #tally = createTally();
  /** What was before the last cut. */
  #before = createTally();

  came(waiting: number): void {
    this.#tally.requests++;
    this.#tally.longestWaiting = Math.max(this.#tally.longestWaiting, waiting);
  }

  refused(): void {
    this.#tally.refused++;
  }

  failed(): void {
    this.#tally.errors++;
  }

  /** A batch is computed from now on, of requests that waited so long. */
  began(nowMs: number): void {
    this.#busy.begin(nowMs);
  }

  ended(nowMs: number): void {
    this.#busy.end(nowMs);
  }

  /** A batch was computed; what it took inside the device's process counts where it ends. */
  computed(
    rows: number,
    { uploadMs, computeMs, readbackMs }: { uploadMs: number; computeMs: number; readbackMs: number },
    queuedMs: readonly number[],
  ): void {
    const tally = this.#tally;
    tally.batches++;
    tally.rows += rows;
    tally.computeMs += computeMs;
    tally.transferMs += uploadMs + readbackMs;
    for (const each of queuedMs) addToDistribution(tally.queueMs, each);
  }

  /** What was since the last cut. */
  cut(nowMs: number): ServingTally {
    const tally = { ...this.#tally, busyMs: this.#busy.cut(nowMs) };
    this.#tally = createTally();
    this.#before = mergeServing(this.#before, tally);
    return tally;
  }

  /** What was since the start. */
  total(nowMs: number): ServingTally {
    const since = { ...this.#tally, busyMs: this.#busy.peek(nowMs) };
    return mergeServing(this.#before, since);
  }
}

/** Two spans that follow each other as one. */
export function mergeServing(one: ServingTally, other: ServingTally): ServingTally {
  return {
    requests: one.requests + other.requests,
    refused: one.refused + other.refused,
    errors: one.errors + other.errors,
    batches: one.batches + other.batches,
    rows: one.rows + other.rows,
    busyMs: one.busyMs + other.busyMs,
    computeMs: one.computeMs + other.computeMs,
    transferMs: one.transferMs + other.transferMs,
    longestWaiting: Math.max(one.longestWaiting, other.longestWaiting),
    queueMs: mergeDistributions(one.queueMs, other.queueMs),
  };
}
