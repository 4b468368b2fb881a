import { addToSketch, createSketch } from "../../../stats/distribution/sketch.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import { sizeKeyOf } from "./fit-request.ts";
import { createTimes, noteTime, type RecentTimes, timeQuantile } from "./sliding-window.ts";

/** The step of a Worker's clock: a shorter time reads as 0 or as one step. */
const STEP_MS = 1;
const STEP = createSketch();
addToSketch(STEP, STEP_MS);

/**
 * Share of the permitted exceedances that a named budget allows for. Of the next 1/(1 − confidence) requests at most
 * one exceeds it with a probability of 97 %; with the whole share it would be 74 %.
 * Source: the Poisson distribution, whose mean is the share.
 */
const NAMED_SHARE = 1 / 4;
/** A named budget is for a request that is sent again at once. */
const HELD_MS = 10_000;
/** Fewest missed answers after which a named budget no longer holds. */
const BROKEN_BY = 3;
/** Limits of the budgets that one placement holds at one size, and of the placements, each at a size, that hold any. */
const KEPT_BUDGETS = 8;
const KEPT_PLACEMENTS = 4_096;

/** Times of a request that finds everything idle: the service alone, and with the time around it. */
export interface IdleTimes {
  readonly serviceMs: number;
  readonly idleMs: number;
}

type Sized = Pick<LivePlacement, "id" | "size">;

/** Times that a named budget has room for: also that between the request's arrival and its question. */
export interface NamedTimes extends IdleTimes {
  readonly beforeMs: number;
}

interface Named extends NamedTimes {
  readonly rows: number;
  readonly confidence: number;
}

interface Held extends Named {
  readonly untilMs: number;
  /** Requests of this size to the placement since: those answered, and those that ended without an answer. */
  answered: number;
  missed: number;
}

/** The confidence at which a budget is named: stricter than that of its admission. */
export function namedConfidence(confidence: number): number {
  return 1 - (1 - confidence) * NAMED_SHARE;
}

/**
 * Budgets that refusals of this isolate named. For ten seconds a request with such a budget is predicted no worse than
 * when it was named, unless answers are missed. Queues, cold starts and silence still count.
 * Also the time between a request's arrival and its question, for which a budget must have room.
 */
export class NamedBudgets {
  readonly #spent: RecentTimes = createTimes();
  /** By placement and size. */
  readonly #held = new Map<string, readonly Held[]>();

  noteSpent(spentMs: number, nowMs: number): void {
    noteTime(this.#spent, spentMs, nowMs);
  }

  /** The time before the question that is not exceeded with this confidence; at least a step of the clock. */
  spentMs(confidence: number, nowMs: number): number {
    return Math.max(STEP_MS, timeQuantile(this.#spent, STEP, confidence, nowMs));
  }

  /** Keeps a named budget, which has room for these times. */
  hold(placement: Sized, named: Named, nowMs: number): void {
    const { rows, confidence, idleMs } = named;
    const key = sizeKeyOf(placement);
    const isSame = (each: Held) => each.rows === rows && each.confidence === confidence && each.idleMs === idleMs;
    const known = this.#heldBy(key, nowMs);
    const same = known.find(isSame);
    const others = known.filter((each) => !isSame(each));
    this.#held.delete(key);
    if (this.#held.size >= KEPT_PLACEMENTS) this.#held.delete(this.#held.keys().next().value!);
    // Named again, it holds longer, and is still that of the callers before.
    const beforeMs = Math.max(named.beforeMs, same?.beforeMs ?? 0);
    const { answered = 0, missed = 0 } = same ?? {};
    const held = { ...named, beforeMs, untilMs: nowMs + HELD_MS, answered, missed };
    this.#held.set(key, [...others, held].slice(-KEPT_BUDGETS));
  }

  /** The most that may be predicted for such a request; null where no budget is held for it. */
  find(placement: Sized, rows: number, confidence: number, nowMs: number): NamedTimes | null {
    let least: Held | null = null;
    for (const each of this.#heldBy(sizeKeyOf(placement), nowMs)) {
      if (each.rows !== rows || each.confidence < confidence) continue;
      if (least === null || each.idleMs < least.idleMs) least = each;
    }
    return least;
  }

  noteAnswered(placement: Sized): void {
    for (const each of this.#held.get(sizeKeyOf(placement)) ?? []) each.answered++;
  }

  /** Notes a request of this size to the placement that ended without an answer. */
  noteMissed(placement: Sized): void {
    for (const each of this.#held.get(sizeKeyOf(placement)) ?? []) each.missed++;
  }

  /** Budgets that still hold. The clock may jump back. */
  #heldBy(key: string, nowMs: number): readonly Held[] {
    const held = this.#held.get(key) ?? [];
    return held.filter((each) => each.untilMs > nowMs && each.untilMs <= nowMs + HELD_MS && !isBroken(each));
  }
}

/**
 * Whether so many answers were missed that the budget no longer holds. The share that ends it lies in the geometric
 * middle between the permitted one and all: a tenth at 0.99. A smaller excess is that of a busy moment, in which most
 * requests are still answered; without the budget all of them would be refused.
 */
function isBroken({ confidence, answered, missed }: Held): boolean {
  return missed >= BROKEN_BY && missed > Math.sqrt(1 - confidence) * (answered + missed);
}
