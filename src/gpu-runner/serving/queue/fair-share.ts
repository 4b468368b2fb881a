import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { Waiting } from "./play-queue.ts";
import { costMs } from "./traffic.ts";
import { type Arranged, byUrgency, isProbe, LAST_TURN } from "./urgency.ts";

/** Device time of a tenant's requests in one turn. Within a turn the deadlines of all tenants decide. */
const TURN_MS = 10;
/** Device time that a tenant which uses less than its share is ahead of the others, for its bursts. */
const CREDIT_MS = 50;
/** Turns of a tenant that alone fills the queue's places or bytes, however little time its requests take. */
const FULL_TURNS = 4;

/**
 * Divides a device's time evenly between tenants, the projects whose models it serves. Each has a virtual time, which
 * grows by the device time that it uses; one that was away continues a credit before the least of those that were
 * there. A tenant's waiting requests, the most urgent first, fill turns of its virtual time, and earlier turns are
 * served first. So a tenant that asks for more than its share waits behind its own requests, and takes what others leave.
 * Sources: Goyal, Vin and Cheng, SIGCOMM 1996 (start-time fair queueing); Duda and Cheriton, SOSP 1999 (the credit).
 */
export class FairShare {
  /** Virtual times that are later than the earliest possible one, by tenant. */
  readonly #usedMs = new Map<number | undefined, number>();
  /** Latest of the least virtual times of all that were there. */
  #clockMs = 0;

  /** Adds device time to a tenant's while these requests wait; a negative one corrects what was added before. */
  charge(tenant: number | undefined, durationMs: number, waiting: readonly Waiting[]): void {
    this.#usedMs.set(tenant, this.#virtualMs(tenant) + durationMs);
    let leastMs = this.#virtualMs(tenant);
    for (const work of waiting) {
      if (!isProbe(work)) leastMs = Math.min(leastMs, this.#virtualMs(work.line.tenant));
    }
    this.#clockMs = Math.max(this.#clockMs, leastMs);
    for (const [each, usedMs] of this.#usedMs) if (usedMs <= this.#clockMs - CREDIT_MS) this.#usedMs.delete(each);
  }

  /** Arranges requests that are ordered by urgency; those of one tenant alone stay as they are. */
  arrange<Work extends Waiting>(order: readonly Work[]): Arranged<Work> {
    const callers = order.filter((work) => !isProbe(work));
    const first = callers[0]?.line.tenant;
    const isShared = callers.some(({ line }) => line.tenant !== first);
    // Turns of one tenant are seldom asked for.
    let turns = isShared ? this.#takeTurns(callers) : null;
    const known = () => (turns ??= this.#takeTurns(callers));
    return {
      order: turns === null ? order : [...turns.served, ...order.slice(callers.length)],
      isShared,
      turnOf: (work) => known().turnByWork.get(work) ?? LAST_TURN,
      nextTurnOf: (tenant) => known().nextTurns.get(tenant) ?? turnAt(this.#aheadMs(tenant)),
    };
  }

  #takeTurns<Work extends Waiting>(callers: readonly Work[]): Turns<Work> {
    const nextTurns = new Map<number | undefined, number>();
    const places: Place<Work>[] = [];
    for (const [tenant, works] of Map.groupBy(callers, ({ line }) => line.tenant)) {
      nextTurns.set(tenant, placeInTurns(works, this.#aheadMs(tenant), places));
    }
    places.sort((a, b) => a.turn - b.turn || a.dueMs - b.dueMs || byUrgency(a.work, b.work));
    const turnByWork = new Map(places.map(({ work, turn }) => [work, turn]));
    return { served: places.map(({ work }) => work), turnByWork, nextTurns };
  }

  #virtualMs(tenant: number | undefined): number {
    return Math.max(this.#clockMs - CREDIT_MS, this.#usedMs.get(tenant) ?? Number.NEGATIVE_INFINITY);
  }

  /** A tenant's virtual time from the earliest possible one on. */
  #aheadMs(tenant: number | undefined): number {
    return this.#virtualMs(tenant) - this.#clockMs + CREDIT_MS;
  }
}

interface Turns<Work extends Waiting> {
  readonly served: readonly Work[];
  readonly turnByWork: ReadonlyMap<Work, number>;
  readonly nextTurns: ReadonlyMap<number | undefined, number>;
}

interface Place<Work extends Waiting> {
  readonly work: Work;
  readonly turn: number;
  /** Earliest deadline of it and of the requests of its tenant that wait behind it in the same turn. */
  readonly dueMs: number;
}

/** Adds the places of a tenant's requests from this virtual time on, and returns the turn of its next one. */
function placeInTurns<Work extends Waiting>(works: readonly Work[], fromMs: number, places: Place<Work>[]): number {
  let atMs = fromMs;
  const turns = works.map((work) => {
    const turn = turnAt(atMs);
    atMs += chargeOf(work);
    return turn;
  });
  for (let index = works.length - 1, dueMs = Infinity; index >= 0; index--) {
    const work = works[index]!;
    dueMs = turns[index] === turns[index + 1] ? Math.min(dueMs, work.deadlineMs) : work.deadlineMs;
    places.push({ work, turn: turns[index]!, dueMs });
  }
  return turnAt(atMs);
}

function turnAt(virtualMs: number): number {
  return Math.floor(virtualMs / TURN_MS);
}

/** Virtual time of a waiting request: of the device, or of the place that it takes in the queue if that is more. */
function chargeOf(work: Waiting): number {
  const filled = Math.max(1 / LIMITS.deviceQueueRequests, work.sizeBytes / LIMITS.deviceQueueBytes);
  return Math.max(costMs(work), filled * FULL_TURNS * TURN_MS);
}
