/** Next rate to try. */
export interface RateStep {
  readonly ratePerS: number;
  /** Whether it repeats a rate that held before. */
  readonly confirms: boolean;
}

/** Result of a step. */
export interface RateReport {
  readonly holds: boolean;
  /** Remaining time of the search; 0 ends it. */
  readonly leftMs: number;
}

export interface RateSearch {
  readonly startRatePerS: number;
  readonly leastRatePerS: number;
  readonly mostRatePerS: number;
  /**
   * Distance between the highest rate that held and the lowest that failed at which the search ends, relative to the
   * former.
   */
  readonly relativeWidth: number;
  /** Times that the highest rate has to hold again. */
  readonly confirmations: number;
  readonly maxTrials: number;
  /** Expected duration of a run at a rate. */
  readonly expectMs: (ratePerS: number) => number;
}

export interface RateOutcome {
  /** Null where no rate was confirmed often enough. */
  readonly highestRatePerS: number | null;
  /** False where time or trials ended the search. */
  readonly complete: boolean;
}

/**
 * Searches the highest rate that holds.
 * It doubles or halves until one rate holds and one fails twice, bisects between them in equal ratios, and repeats the
 * highest that held.
 * Where repetitions fail twice, it steps down, further each time, and asks for all of them anew.
 * Bisecting ends early where time would not be left for the repetitions.
 * A generator without clock or system: it yields rates and receives their results.
 */
export function* searchRate(search: RateSearch): Generator<RateStep, RateOutcome, RateReport> {
  const state: SearchState = { trials: 0, leftMs: Number.POSITIVE_INFINITY };
  const { held, failed } = yield* bracket(search, state);
  if (held === null) return { highestRatePerS: null, complete: hasRoom(search, state) };
  const highest = failed === null ? held : yield* bisect(search, state, held, failed);
  return yield* confirm(search, state, highest);
}

/** Failed repetitions before a rate is given up: a single one may be a hiccup of the machine. */
const FAILURES = 2;
/** Largest factor of a step down. */
const MOST_STEP_DOWN = 2;

interface SearchState {
  trials: number;
  leftMs: number;
}

type Search<Found> = Generator<RateStep, Found, RateReport>;

const hasRoom = ({ maxTrials }: RateSearch, { trials, leftMs }: SearchState) => trials < maxTrials && leftMs > 0;

function* attempt(state: SearchState, ratePerS: number, confirms = false): Search<boolean> {
  const { holds, leftMs } = yield { ratePerS, confirms };
  state.trials++;
  state.leftMs = leftMs;
  return holds;
}

/** The highest rate that held and the lowest that failed, a factor of two apart; null where there was none. */
function* bracket(search: RateSearch, state: SearchState): Search<{ held: number | null; failed: number | null }> {
  const { leastRatePerS, mostRatePerS } = search;
  let held: number | null = null;
  let failed: number | null = null;
  let next = Math.min(mostRatePerS, Math.max(leastRatePerS, search.startRatePerS));
  while (hasRoom(search, state)) {
    // Retried once, since one hiccup must not misdirect the whole search.
    const holds = (yield* attempt(state, next)) || (hasRoom(search, state) && (yield* attempt(state, next)));
    if (holds) held = next;
    else failed = next;
    if ((held !== null && failed !== null) || held === mostRatePerS || failed === leastRatePerS) break;
    next = held === null ? Math.max(leastRatePerS, next / 2) : Math.min(mostRatePerS, next * 2);
  }
  return { held, failed };
}

function* bisect(search: RateSearch, state: SearchState, held: number, failed: number): Search<number> {
  let [low, high] = [held, failed];
  while (high / low > 1 + search.relativeWidth && hasRoom(search, state)) {
    const middle = Math.sqrt(low * high);
    const { confirmations, expectMs, maxTrials } = search;
    if (state.leftMs < expectMs(middle) + confirmations * expectMs(low)) break;
    if (state.trials + 1 + confirmations > maxTrials) break;
    if (yield* attempt(state, middle)) low = middle;
    else high = middle;
  }
  return low;
}

function* confirm(search: RateSearch, state: SearchState, highest: number): Search<RateOutcome> {
  const { relativeWidth, confirmations, leastRatePerS } = search;
  let rate = highest;
  let hasHeld = true;
  for (let stepDown = 1 + relativeWidth; ; stepDown = Math.min(MOST_STEP_DOWN, stepDown ** 2)) {
    let left = hasHeld ? confirmations : 1 + confirmations;
    for (let failures = 0; left > 0 && failures < FAILURES && hasRoom(search, state);) {
      if (yield* attempt(state, rate, left <= confirmations)) left--;
      else failures++;
    }
    if (left === 0) return { highestRatePerS: rate, complete: true };
    if (!hasRoom(search, state) || rate === leastRatePerS) {
      return { highestRatePerS: null, complete: hasRoom(search, state) };
    }
    rate = Math.max(leastRatePerS, rate / stepDown);
    hasHeld = false;
  }
}
