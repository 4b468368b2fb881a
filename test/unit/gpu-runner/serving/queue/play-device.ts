import { judgeArrival } from "../../../../../src/gpu-runner/serving/queue/judge-arrival.ts";
import { planBatch, type Running, type Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";

export interface Arrival {
  readonly atMs: number;
  readonly request: Waiting;
}

/** Policy of a simulated device with a queue: its admissions, and its next batch. */
export interface Policy {
  readonly admit: (
    order: readonly Waiting[],
    newcomer: Waiting,
    nowMs: number,
    running: Running | null,
  ) => readonly Waiting[];
  readonly choose: (
    order: readonly Waiting[],
    nowMs: number,
  ) => { batch: readonly Waiting[]; doomed: readonly Waiting[] };
}

export const OURS: Policy = {
  admit: (order, newcomer, nowMs, running) => {
    const verdict = judgeArrival(order, newcomer, nowMs, running);
    return verdict.kind === "admitted" ? verdict.order : order;
  },
  choose: planBatch,
};

/** Plays arrivals against a device whose batches last exactly as expected. Answers are in time or late. */
export function playDevice(arrivals: readonly Arrival[], { admit, choose }: Policy) {
  const batches: (readonly Waiting[])[] = [];
  const [admitted, answered, late] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let order: readonly Waiting[] = [];
  let running: (Running & { endMs: number; batch: readonly Waiting[] }) | null = null;
  let next = 0;
  const begin = (nowMs: number) => {
    const { batch, doomed } = choose(order, nowMs);
    const out = new Set([...batch, ...doomed]);
    order = order.filter((each) => !out.has(each));
    const [first] = batch;
    if (first === undefined) return null;
    const rows = batch.reduce((sum, each) => sum + each.rows, 0);
    batches.push(batch);
    return { line: first.line, rows, startedMs: nowMs, endMs: nowMs + first.line.times.expectedMs(rows), batch };
  };
  while (next < arrivals.length || running !== null) {
    const arrival = arrivals[next];
    if (running !== null && (arrival === undefined || running.endMs <= arrival.atMs)) {
      const { endMs, batch }: { endMs: number; batch: readonly Waiting[] } = running;
      for (const { id, deadlineMs } of batch) (endMs <= deadlineMs ? answered : late).add(id);
      running = begin(endMs);
    } else if (arrival !== undefined) {
      next++;
      order = admit(order, arrival.request, arrival.atMs, running);
      if (order.includes(arrival.request)) admitted.add(arrival.request.id);
      running ??= begin(arrival.atMs);
    }
  }
  return { batches, admitted, answered, late };
}
