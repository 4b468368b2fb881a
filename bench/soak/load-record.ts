import { nearestRank } from "../../src/stats/distribution/summary.ts";

/** Outcome of the requests that were due in one second. */
export interface Second {
  sent: number;
  answered: number;
  readonly latenciesMs: number[];
}

/** Outcomes of requests over time, by the second in which they were due. */
export class LoadRecord {
  readonly #seconds: Second[] = [];
  readonly #counts = new Map<string, number>();
  readonly refusedMs: number[] = [];
  readonly lagsMs: number[] = [];

  /** `latencyMs` counts from the due time; `lagMs` of it is the generator's delay. */
  note(dueMs: number, status: string, latencyMs: number, lagMs: number): void {
    const second = (this.#seconds[Math.floor(dueMs / 1e3)] ??= { sent: 0, answered: 0, latenciesMs: [] });
    second.sent++;
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
    this.lagsMs.push(lagMs);
    if (status === "200") {
      second.answered++;
      second.latenciesMs.push(latencyMs);
    } else {
      this.refusedMs.push(latencyMs - lagMs);
    }
  }

  /** Number of requests by status; 0 where the connection broke. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** For each window of seconds: share of answered requests, and the 99th percentile of those in milliseconds. */
  windows(
    seconds: number,
  ): { readonly atS: number; readonly answered: number; readonly sent: number; readonly p99Ms: number | null }[] {
    return Array.from({ length: Math.ceil(this.#seconds.length / seconds) }, (_, index) => {
      const part = this.#seconds.slice(index * seconds, (index + 1) * seconds).filter((each) => each !== undefined);
      const latencies = part.flatMap(({ latenciesMs }) => latenciesMs);
      const sent = part.reduce((sum, each) => sum + each.sent, 0);
      return { atS: index * seconds, sent, answered: latencies.length, p99Ms: percentile(latencies, 0.99) };
    });
  }

  /** Percentile over all answered requests. */
  percentileMs(q: number): number | null {
    return percentile(
      this.#seconds.flatMap((second) => second?.latenciesMs ?? []),
      q,
    );
  }
}

export function percentile(values: readonly number[], q: number): number | null {
  return values.length === 0 ? null : nearestRank(Float64Array.from(values).toSorted(), q);
}
