import {
  addToDistribution,
  mergeDistributions,
  type OpenDistribution,
  openDistribution,
} from "../../../stats/distribution/distribution.ts";

/** Time with anything in progress, however many at once; all times in milliseconds of one monotonic clock. */
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

  /** Milliseconds since the last cut, without a new cut. */
  peek(nowMs: number): number {
    return this.#busyMs + (this.#underWay > 0 ? nowMs - this.#sinceMs : 0);
  }
}

/** Counts and times of one device's queue in a span, times in milliseconds. */
export interface ServingTally {
  requests: number;
  refused: number;
  errors: number;
  batches: number;
  rows: number;
  busyMs: number;
  computeMs: number;
  transferMs: number;
  /** Longest queue. */
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

/** Meter of a device's queue, without the watch's probes. */
export class ServingMeter {
  readonly #busy = new BusyClock();
  #tally = createTally();
  /** Tally before the last cut. */
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

  /** Records the start of a batch whose requests waited this long. */
  began(nowMs: number): void {
    this.#busy.begin(nowMs);
  }

  ended(nowMs: number): void {
    this.#busy.end(nowMs);
  }

  /** Records the end of a batch; its time in the device's process counts in the span where it ends. */
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

  /** Tally since the last cut. */
  cut(nowMs: number): ServingTally {
    const tally = { ...this.#tally, busyMs: this.#busy.cut(nowMs) };
    this.#tally = createTally();
    this.#before = mergeServing(this.#before, tally);
    return tally;
  }

  /** Tally since the start. */
  total(nowMs: number): ServingTally {
    const since = { ...this.#tally, busyMs: this.#busy.peek(nowMs) };
    return mergeServing(this.#before, since);
  }
}

/** Merges two consecutive spans. */
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
