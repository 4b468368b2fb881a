import type { ModelName } from "./served-models.ts";
import type { Trace } from "./trace.ts";

/** A request as the oracle knows it beforehand, in milliseconds. */
export interface KnownRequest {
  readonly model: ModelName;
  readonly arrivalMs: number;
  readonly deadlineMs: number;
  readonly rows: number;
}

/** Requests of a trace. */
export function knowRequests({ arrivalsMs, requests }: Pick<Trace, "arrivalsMs" | "requests">): KnownRequest[] {
  return requests.map(({ model, budgetMs, rows }, index) => {
    const arrivalMs = arrivalsMs[index]!;
    return { model, arrivalMs, deadlineMs: arrivalMs + budgetMs, rows };
  });
}

interface Job extends KnownRequest {
  /** Smallest share of device time for an answer in time. */
  readonly costMs: number;
}

/**
 * Upper bound of the requests that any schedule answers in time on one device that computes one batch at a time, even
 * with all arrivals known beforehand. `batchMs` of a model holds the duration of a batch of each size from one row on;
 * no batch is larger.
 * Two relaxations, each of which only allows more:
 * (1) Every request is charged its share of the cheapest batch that it could be in: of a size k that ends in time with
 * k rows of its model present at one moment of its window, its own among them. The charges of a real batch's members add
 * up to at most its duration.
 * (2) Device time may be cut into any pieces, and a request served in part. The windows are then filled with charges so
 * that the sum of 1/charge per millisecond is largest.
 * The feasible amounts of work are a polymatroid, whose optimum is greedy: the cheapest requests first, then as much of
 * the next as fits beside them. Earliest deadline first shows how much of a set fits at all.
 * Source: Edmonds, 1970.
 */
export function boundGoodput(
  requests: readonly KnownRequest[],
  batchMs: Readonly<Record<ModelName, readonly number[]>>,
): number {
  const { policy, vision } = boundByModel(requests, batchMs);
  return policy + vision;
}

/** The same bound by the model of the requests; of two models whose charges are equal, the first has the sum. */
export function boundByModel(
  requests: readonly KnownRequest[],
  batchMs: Readonly<Record<ModelName, readonly number[]>>,
): Record<ModelName, number> {
  const models = Map.groupBy(requests, ({ model }) => model);
  const jobs = [...models].flatMap(([model, ofModel]) => chargeRequests(ofModel, batchMs[model]));
  const costs = [...new Set(jobs.map(({ costMs }) => costMs))].toSorted((a, b) => a - b);
  let fitted = 0;
  const counts = { policy: 0, vision: 0 };
  for (const costMs of costs) {
    const work = fitWork(jobs.filter((job) => job.costMs <= costMs));
    counts[jobs.find((job) => job.costMs === costMs)!.model] += (work - fitted) / costMs;
    fitted = work;
  }
  return counts;
}

/** Requests of one model that can be served in time, each with its smallest charge. */
function chargeRequests(requests: readonly KnownRequest[], batchMs: readonly number[]): Job[] {
  const single = requests.flatMap((request) => Array.from({ length: request.rows }, () => request));
  /** Of a row of each. */
  const costs = requests.map(() => Infinity);
  for (const [index, durationMs] of batchMs.entries()) {
    const rows = index + 1;
    const moments = findMoments(single, rows, durationMs);
    if (moments.length === 0) break;
    for (const [each, { arrivalMs, deadlineMs, rows: ownRows }] of requests.entries()) {
      if (ownRows > rows) continue;
      const isPossible = moments.some(([from, to]) => to >= arrivalMs && from <= deadlineMs - durationMs);
      if (isPossible) costs[each] = Math.min(costs[each]!, durationMs / rows);
    }
  }
  return requests
    .map((request, each) => ({ ...request, costMs: request.rows * costs[each]! }))
    .filter(({ costMs }) => costMs < Infinity);
}

/** Moments at which a batch of this many rows could start with all its members present and in time: from, to. */
function findMoments(requests: readonly KnownRequest[], rows: number, durationMs: number): [number, number][] {
  const able = requests.filter(({ arrivalMs, deadlineMs }) => deadlineMs - arrivalMs >= durationMs);
  const begins = Float64Array.from(able, ({ arrivalMs }) => arrivalMs).toSorted();
  const ends = Float64Array.from(able, ({ deadlineMs }) => deadlineMs - durationMs).toSorted();
  const moments: [number, number][] = [];
  let ended = 0;
  let openedAt: number | null = null;
  for (const [begun, atMs] of begins.entries()) {
    // A request that leaves just when another arrives still counts as present.
    for (; ends[ended]! < atMs; ended++) {
      if (openedAt !== null && begun - ended === rows) {
        moments.push([openedAt, ends[ended]!]);
        openedAt = null;
      }
    }
    if (openedAt === null && begun + 1 - ended >= rows) openedAt = atMs;
  }
  // No more arrivals: the moment ends when one fewer than needed is left.
  if (openedAt !== null) moments.push([openedAt, ends[ends.length - rows]!]);
  return moments;
}

/** Amount of the jobs' work that one device gets done within their windows: earliest deadline first, in pieces. */
function fitWork(jobs: readonly Job[]): number {
  const order = jobs.toSorted((a, b) => a.arrivalMs - b.arrivalMs);
  /** Open jobs, the earliest deadline last. */
  const ready: { readonly deadlineMs: number; leftMs: number }[] = [];
  let done = 0;
  let nowMs = 0;
  for (const [index, job] of order.entries()) {
    insert(ready, { deadlineMs: job.deadlineMs, leftMs: job.costMs });
    nowMs = Math.max(nowMs, job.arrivalMs);
    const untilMs = order[index + 1]?.arrivalMs ?? Infinity;
    for (let first = ready.at(-1); first !== undefined && nowMs < untilMs; first = ready.at(-1)) {
      const sliceMs = Math.max(0, Math.min(first.leftMs, first.deadlineMs - nowMs, untilMs - nowMs));
      first.leftMs -= sliceMs;
      nowMs += sliceMs;
      done += sliceMs;
      if (first.leftMs <= 1e-9 || nowMs >= first.deadlineMs) ready.pop();
    }
  }
  return done;
}

function insert(ready: { deadlineMs: number; leftMs: number }[], job: { deadlineMs: number; leftMs: number }): void {
  const at = ready.findLastIndex(({ deadlineMs }) => deadlineMs >= job.deadlineMs);
  ready.splice(at + 1, 0, job);
}
