import type { Line, Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { levelOf } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";

/** A line whose batches take exactly `fixedMs + rowMs · rows`; above nine tenths, `tail` times as long. */
export function scriptLine({
  fixedMs = 5,
  rowMs = 0.5,
  tail = 1,
  maxRows = 16,
  joins = true,
  notedAtMs = 0,
} = {}): Line {
  const expectedMs = (rows: number) => fixedMs + rowMs * rows;
  const quantileMs = (rows: number, level: number) => expectedMs(rows) * (level > levelOf(0.9) ? tail : 1);
  return { joins, times: { expectedMs, quantileMs, maxRows, measuredRows: maxRows, notedAtMs } };
}

/** A request of one row that has to be in time as surely as not to be in the tail. */
export function scriptRequest(line: Line, id: string, deadlineMs: number, changes: Partial<Waiting> = {}): Waiting {
  return { id, line, deadlineMs, priority: 0, level: levelOf(0.9), rows: 1, sizeBytes: 4, ...changes };
}

export function idsOf(list: readonly Waiting[]): string[] {
  return list.map(({ id }) => id);
}
