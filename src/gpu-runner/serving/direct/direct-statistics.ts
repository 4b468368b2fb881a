import type { OipStats } from "../../../protocol/inference/oip.ts";
import type { DirectOutcome } from "../../../protocol/inference/ticket.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";

type Statistics = Omit<OipStats["model_stats"][number], "name" | "version">;

interface Counts {
  answered: number;
  answeredMs: number;
  failed: number;
  failedMs: number;
  rows: number;
  executions: number;
  readonly partMs: { queueMs: number; uploadMs: number; computeMs: number; readbackMs: number };
}

/** Totals of direct requests since the runner's start, by placement, as they end. */
export class DirectStatistics {
  readonly #counts = new Map<string, Counts>();

  add({ placementId, rows, ownRows = 1, totalMs, times, refusedFor }: DirectOutcome): void {
    const counts = this.#of(placementId);
    if (refusedFor !== undefined) {
      counts.failed++;
      counts.failedMs += totalMs;
      return;
    }
    counts.answered++;
    counts.answeredMs += totalMs;
    counts.rows += ownRows;
    counts.executions += ownRows / rows;
    if (times === null) return;
    counts.partMs.queueMs += times.queueMs;
    counts.partMs.uploadMs += times.uploadMs;
    counts.partMs.computeMs += times.computeMs;
    counts.partMs.readbackMs += times.readbackMs;
  }

  /** As Triton counts: each answered request once in every part. */
  describe(placementId: string): Statistics {
    const { answered, answeredMs, failed, failedMs, rows, executions, partMs } = this.#of(placementId);
    const duration = (count: number, ms: number) => ({ count, ns: Math.round(1e6 * ms) });
    return {
      inference_count: rows,
      execution_count: Math.round(executions),
      inference_stats: {
        success: duration(answered, answeredMs),
        fail: duration(failed, failedMs),
        queue: duration(answered, partMs.queueMs),
        compute_input: duration(answered, partMs.uploadMs),
        compute_infer: duration(answered, partMs.computeMs),
        compute_output: duration(answered, partMs.readbackMs),
        cache_hit: duration(0, 0),
        cache_miss: duration(0, 0),
      },
    };
  }

  #of(placementId: string): Counts {
    const known = this.#counts.get(placementId);
    if (known !== undefined) return known;
    // Placements come and go: without a limit, deleted ones would stay for ever.
    if (this.#counts.size >= LIMITS.ticketsHeld) this.#counts.clear();
    const partMs = { queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 };
    const counts = { answered: 0, answeredMs: 0, failed: 0, failedMs: 0, rows: 0, executions: 0, partMs };
    this.#counts.set(placementId, counts);
    return counts;
  }
}
