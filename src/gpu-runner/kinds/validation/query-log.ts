import type { MeasuredPercentile } from "../../../protocol/models/scenario.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { type ProblemCode, toProblem } from "../../../protocol/wire/problem.ts";
import { percentileInterval } from "../../../stats/distribution/intervals.ts";
import { nearestRank } from "../../../stats/distribution/summary.ts";

/** Percentiles in every result. */
const USUAL = [0.5, 0.9, 0.95, 0.99, 0.999];

/** Confidence of each bound of an interval, as in MLPerf's early stopping; of both together it is 0.98. */
const SIDE_CONFIDENCE = 0.99;
const CONFIDENCE = 0.98;

/**
 * The usual and the requested percentiles with their intervals, in ascending order.
 * Latencies of failed queries are Infinity: a percentile that is one of them is left out, an interval that reaches them
 * is open.
 */
export function measurePercentiles(latenciesMs: Float64Array, wanted: readonly number[]): MeasuredPercentile[] {
  const sorted = latenciesMs.toSorted();
  const percentiles = [...new Set([...wanted, ...USUAL])]
    .slice(0, LIMITS.scenarioPercentiles)
    .toSorted((a, b) => a - b);
  return percentiles.flatMap((percentile) => {
    const ms = nearestRank(sorted, percentile);
    if (!Number.isFinite(ms)) return [];
    const { low, high } = percentileInterval(percentile, sorted.length, SIDE_CONFIDENCE);
    return { percentile, ms, lowMs: at(sorted, low), highMs: at(sorted, high), confidence: CONFIDENCE };
  });
}

function at(sorted: Float64Array, place: number | null): number | null {
  const ms = place === null ? undefined : sorted[place];
  return ms !== undefined && Number.isFinite(ms) ? ms : null;
}

/** Outcome of the queries of one load. */
export interface LoggedQueries {
  /** Latencies in milliseconds, in the order of scheduled arrival; Infinity where there was no answer. */
  readonly latenciesMs: Float64Array;
  readonly errorCodes: Readonly<Record<string, number>>;
  readonly errors: number;
  /** From the start of the load to its last answer or error. */
  readonly durationMs: number;
}

/** Log of the queries of one load. Outcomes after `close` are too late and not counted. */
export class QueryLog {
  readonly #startMs: number;
  readonly #latenciesMs: number[] = [];
  /** Due time of each query under way by its index, the oldest first. */
  readonly #underWay = new Map<number, number>();
  readonly #errorCodes = new Map<ProblemCode, number>();
  #lastMs: number;
  #isClosed = false;

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#lastMs = startMs;
  }

  get count(): number {
    return this.#latenciesMs.length;
  }

  get outstanding(): number {
    return this.#underWay.size;
  }

  /** Logs a query due at `dueMs` and sends it with `ask`; resolves at its answer or error. */
  async follow(dueMs: number, clock: { now(): number }, ask: () => Promise<void>): Promise<"answered" | "failed"> {
    const place = this.#latenciesMs.push(Number.POSITIVE_INFINITY) - 1;
    this.#underWay.set(place, dueMs);
    let outcome: "answered" | "failed" = "answered";
    try {
      await ask();
      if (!this.#isClosed) this.#latenciesMs[place] = clock.now() - dueMs;
    } catch (error) {
      outcome = "failed";
      if (!this.#isClosed) this.#countError(toProblem(error).code);
    }
    if (!this.#isClosed) {
      this.#underWay.delete(place);
      this.#lastMs = clock.now();
    }
    return outcome;
  }

  /** Number of queries under way for longer than `boundMs` already. */
  countOverdue(nowMs: number, boundMs: number): number {
    let overdue = 0;
    for (const dueMs of this.#underWay.values()) {
      if (nowMs - dueMs <= boundMs) break;
      overdue++;
    }
    return overdue;
  }

  /** Closes the log; queries still under way have run out of time. */
  close(nowMs: number): LoggedQueries {
    this.#isClosed = true;
    if (this.#underWay.size > 0) this.#lastMs = nowMs;
    for (const _ of this.#underWay) this.#countError("budget-exceeded");
    let errors = 0;
    for (const count of this.#errorCodes.values()) errors += count;
    return {
      latenciesMs: Float64Array.from(this.#latenciesMs),
      errorCodes: Object.fromEntries(this.#errorCodes),
      errors,
      durationMs: this.#lastMs - this.#startMs,
    };
  }

  #countError(code: ProblemCode): void {
    this.#errorCodes.set(code, (this.#errorCodes.get(code) ?? 0) + 1);
  }
}
