import { type Aggregate, mergeAggregates, summarise } from "../../stats/distribution.ts";

const SLICE_MS = 5_000;
const SLICES = 12;
const MIN_SAMPLES = 50;
/** Samples of a slice beyond this say nothing new; they are not kept. */
const SLICE_SAMPLES = 2_000;

interface Slice {
  readonly startMs: number;
  readonly values: number[];
}

interface Window {
  slices: Slice[];
  aggregate: Aggregate | null;
}

/**
 * What lay around the service in recent requests (edge and link), by runner and within this isolate:
 * a minute in slices of five seconds. Read from the edge's clock, so to a millisecond.
 */
const windows = new Map<string, Window>();

export function noteOverhead(runnerId: string, overheadMs: number, nowMs: number): void {
  const window = windows.get(runnerId) ?? { slices: [], aggregate: null };
  windows.set(runnerId, window);
  const last = window.slices.at(-1);
  if (last !== undefined && nowMs < last.startMs + SLICE_MS) {
    if (last.values.length < SLICE_SAMPLES) last.values.push(overheadMs);
    return;
  }
  window.slices = [...window.slices, { startMs: nowMs, values: [overheadMs] }].filter(
    (slice) => slice.startMs > nowMs - SLICES * SLICE_MS,
  );
  // Summed up once a slice, not once a request.
  const complete = window.slices.slice(0, -1);
  window.aggregate = complete.length === 0 ? null : mergeAggregates(complete.map(({ values }) => summarise(values)));
}

/** The distribution around the service of a runner's requests; null until enough were seen. */
export function recentOverhead(runnerId: string): Aggregate | null {
  const aggregate = windows.get(runnerId)?.aggregate ?? null;
  return aggregate !== null && aggregate.count >= MIN_SAMPLES ? aggregate : null;
}
