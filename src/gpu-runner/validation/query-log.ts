import type { ProblemCode } from "../../protocol/problem.ts";
import { toProblem } from "../../protocol/problem.ts";

/** What became of the queries of one load. */
export interface LoggedQueries {
  /** In milliseconds, in the order of scheduled arrival; Infinity where there was no answer. */
  readonly latenciesMs: Float64Array;
  readonly errorCodes: Readonly<Record<string, number>>;
  readonly errors: number;
  /** From the start of the load to its last answer or error. */
  readonly durationMs: number;
}

/** The queries of one load as they come and go. What is told after `close` came too late and is not counted. */
export class QueryLog {
  readonly #startMs: number;
  readonly #latenciesMs: number[] = [];
  /** When each query that is under way was due, by its place; the oldest first. */
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

  /** Notes a query that is due at `dueMs`, and does what asks it; resolves when it has its answer or error. */
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

  /** Queries that are under way for longer than `boundMs` already. */
  countOverdue(nowMs: number, boundMs: number): number {
    let overdue = 0;
    for (const dueMs of this.#underWay.values()) {
      if (nowMs - dueMs <= boundMs) break;
      overdue++;
    }
    return overdue;
  }

  /** What was logged; queries that are still under way have run out of time. */
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
