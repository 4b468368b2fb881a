import type { MemoryFit, SweepStep } from "../../../protocol/models/model.ts";
import type { PlacementSweep, RecommendedBatch, SweptBatch } from "../../../protocol/models/trade-offs.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { findKnee } from "../../../stats/compare/trade-offs.ts";

/**
 * Share of a machine's memory that one model with its largest batch may use. The rest is for the system, the runner,
 * its other models and the error of the memory model, which is fitted to resident memory.
 */
export const SAFE_MEMORY_SHARE = 0.5;

/** Memory limit of a batch, and its origin. */
interface MemoryBudget {
  readonly budgetBytes: number;
  readonly of: "asked" | "host" | "device";
  /** Share of the machine's memory; null where the caller gave a size. */
  readonly share: number | null;
}

/** The requested budget, else the safe share of the smaller of the host's and the device's memory; null if unknown. */
export function chooseMemoryBudget(
  askedBytes: number | undefined,
  hostBytes: number | null,
  deviceBytes: number | null,
): MemoryBudget | null {
  if (askedBytes !== undefined) return { budgetBytes: askedBytes, of: "asked", share: null };
  const known = [
    { of: "host" as const, bytes: hostBytes },
    { of: "device" as const, bytes: deviceBytes },
  ].flatMap(({ of, bytes }) => (bytes === null ? [] : [{ of, bytes }]));
  const [smallest] = known.toSorted((a, b) => a.bytes - b.bytes);
  if (smallest === undefined) return null;
  return { budgetBytes: smallest.bytes * SAFE_MEMORY_SHARE, of: smallest.of, share: SAFE_MEMORY_SHARE };
}

/**
 * The most rows with `baseBytes + rows · bytesPerRow ≤ budgetBytes`, up to the largest batch; 0 if not even one fits.
 */
export function countSafeRows({ baseBytes, bytesPerRow }: MemoryFit, budgetBytes: number): number {
  if (baseBytes + bytesPerRow > budgetBytes) return 0;
  const rows = bytesPerRow === 0 ? Number.POSITIVE_INFINITY : Math.floor((budgetBytes - baseBytes) / bytesPerRow);
  return Math.min(LIMITS.batchRows, rows);
}

export interface SweepQuestion {
  /** Null if the machine's memory is unknown. */
  readonly budget: MemoryBudget | null;
  /** Bound on the p99 of a batch's service time. */
  readonly latencyMs?: number | undefined;
}

/** Analysis of one placement's sweep: throughput by rows, its knee, the largest safe batch, the recommended one. */
export function analyseSweep(
  sweep: readonly SweepStep[],
  memory: MemoryFit | null,
  { budget, latencyMs }: SweepQuestion,
): Pick<PlacementSweep, "steps" | "knee" | "memory" | "safe" | "recommended"> {
  const steps = sweep.map((step) => toSweptBatch(step, memory));
  const bend = findKnee(steps.map(({ rows, rowsPerS }) => ({ x: rows, y: rowsPerS })));
  const knee = bend === null ? null : (steps[bend]?.rows ?? null);
  const safeRows = memory === null || budget === null ? null : countSafeRows(memory, budget.budgetBytes);
  const largest = steps.at(-1)?.rows ?? 0;
  return {
    steps,
    knee,
    memory,
    safe: budget === null || safeRows === null ? null : { ...budget, rows: safeRows, measured: safeRows <= largest },
    recommended: recommendBatch(steps, knee, safeRows, latencyMs),
  };
}

/** Rows a second at the median service time. */
function toSweptBatch({ rows, serviceMs }: SweepStep, memory: MemoryFit | null): SweptBatch {
  const { p50, p99 } = serviceMs;
  const memoryBytes = memory === null ? null : memory.baseBytes + rows * memory.bytesPerRow;
  return { rows, p50Ms: p50, p99Ms: p99, rowsPerS: rowsPerSecond(rows, p50), memoryBytes };
}

/** Shortest service time, so that a coarse clock's zero gives no infinite rate. */
const SHORTEST_MS = 1e-6;

export function rowsPerSecond(rows: number, serviceMs: number): number {
  return (rows * 1_000) / Math.max(SHORTEST_MS, serviceMs);
}

/**
 * Recommended batch of the safe measured ones. With a bound: the highest throughput whose p99 keeps it. Without: the
 * knee, or the highest throughput where there is no knee.
 */
function recommendBatch(
  steps: readonly SweptBatch[],
  knee: number | null,
  safeRows: number | null,
  latencyMs: number | undefined,
): RecommendedBatch {
  const safe = steps.filter(({ rows }) => safeRows === null || rows <= safeRows);
  if (safe.length === 0) return nothing("Not even one row stays within the memory.");
  const isCut = safe.length < steps.length;
  if (latencyMs !== undefined) {
    const kept = bestOf(safe.filter(({ p99Ms }) => p99Ms <= latencyMs));
    if (kept === undefined) return nothing(`No batch that was measured has a p99 of ${latencyMs} ms or less.`);
    const detail = `The most rows a second of those whose p99 keeps ${latencyMs} ms.`;
    return { rows: kept.rows, because: "latency", detail };
  }
  if (knee !== null && safe.some(({ rows }) => rows === knee))
    return { rows: knee, because: "knee", detail: "The knee: larger batches gain little and take longer." };
  const rows = bestOf(safe)?.rows ?? null;
  if (isCut) return { rows, because: "memory", detail: "The most rows a second of those that stay within the memory." };
  return { rows, because: "largest", detail: "Throughput has no knee as far as it was measured: the fastest." };
}

function bestOf(steps: readonly SweptBatch[]): SweptBatch | undefined {
  return steps.toSorted((a, b) => b.rowsPerS - a.rowsPerS)[0];
}

function nothing(detail: string): RecommendedBatch {
  return { rows: null, because: "nothing-fits", detail };
}
