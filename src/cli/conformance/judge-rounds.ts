import { median } from "../../stats/distribution/summary.ts";
import {
  type Bounds,
  inMs,
  inPercent,
  isAnswer,
  type Judgement,
  judgeMedian,
  medianOfRounds,
  type Seen,
  untold,
} from "./judgement.ts";

/** Fresh requests before and after a burst whose requests nobody waits for any more. */
export interface SlotRound {
  /** Until all fresh ones were answered, on the idle server. */
  readonly controlMs: number;
  /** The same right after the burst was over for its clients. */
  readonly probeMs: number;
  /** Duration of the burst's work that was not done by then, by the measured capacity. */
  readonly leftMs: number;
  /** Stall of this process at the end. */
  readonly doubtMs: number;
}

/** Part of the leftover work that fresh requests may wait for. */
const HELD_SHARE = 0.25;
/** Leftover work below this many tolerances shows nothing. */
const LEAST_LEFT = 4;

/** Slots: fresh requests right after a burst do not wait for its leftover work. */
export function judgeSlots(
  rounds: readonly SlotRound[],
  { toleranceMs, after }: Pick<Bounds, "toleranceMs"> & { readonly after: string },
): Judgement {
  const clear = rounds.filter(({ doubtMs }) => doubtMs <= toleranceMs);
  if (medianOfRounds(clear.map(({ probeMs }) => probeMs)) === null) {
    return untold(
      `Only ${clear.length} of ${rounds.length} rounds were seen without a stall of this generator; six are needed.`,
    );
  }
  const leftMs = median(clear.map((round) => round.leftMs));
  const excess = medianOfRounds(clear.map(({ controlMs, probeMs }) => probeMs - controlMs))!;
  const figures = {
    rounds: clear.length,
    leftMs,
    excessMs: excess.value,
    excessLowMs: excess.low,
    excessHighMs: excess.high,
  };
  if (leftMs < LEAST_LEFT * toleranceMs) {
    const words = `Only ${inMs(Math.max(0, leftMs))} of work were left ${after}, too little to be seen`;
    return untold(`${words}: the server answers or refuses the rest; try requests with more work.`, figures);
  }
  const parts = clear.map((round) => (round.probeMs - round.controlMs) / mostHeldMs(round.leftMs, toleranceMs));
  const sentence =
    `Fresh requests right ${after} took ${inMs(excess.value)} longer than on the idle server ` +
    `(95 %: ${inMs(excess.low)} to ${inMs(excess.high)}, ${clear.length} rounds). Going on with the burst would take ${inMs(leftMs)}; ` +
    `a wait of ${inMs(mostHeldMs(leftMs, toleranceMs))} is the most.`;
  return { verdict: judgeMedian(parts, 1), figures, sentence };
}

function mostHeldMs(leftMs: number, toleranceMs: number): number {
  return Math.max(toleranceMs, HELD_SHARE * leftMs);
}

/** Largest share of pairs in which the later request may end first. */
const INVERTED_SHARE = 0.1;
/** Fewer answers in a round have no order. */
const LEAST_ANSWERS = 12;
/** A backlog makes requests wait this many idle latencies. */
const LEAST_WAIT = 2;

/** What an order is judged by. */
export interface OrderBounds {
  /** Arrivals, or ends, that are closer than this have no order. */
  readonly jitterMs: number;
  readonly idleMs: number;
  /** Callers at the capacity: so many may be in work at once, and of these a later one may end first. */
  readonly callers: number;
}

/**
 * Share of the ordered pairs in which the later arrival ended clearly before the earlier one (Kendall's discordant
 * pairs). Pairs with fewer than `callers` arrivals from one to the other have no order.
 */
export function invertedShare(
  seen: readonly Seen[],
  { jitterMs, callers }: Pick<OrderBounds, "jitterMs" | "callers">,
): number {
  const ordered = seen.filter(isAnswer).toSorted((one, other) => one.atMs - other.atMs);
  let pairs = 0;
  let inverted = 0;
  for (const [index, earlier] of ordered.entries()) {
    for (const later of ordered.slice(index + callers)) {
      if (later.atMs - earlier.atMs < jitterMs) continue;
      pairs++;
      if (later.atMs + later.latencyMs < earlier.atMs + earlier.latencyMs - jitterMs) inverted++;
    }
  }
  return pairs === 0 ? Number.NaN : inverted / pairs;
}

/** Barging: under a backlog, later requests do not systematically end before earlier ones. */
export function judgeOrder(rounds: readonly (readonly Seen[])[], bounds: OrderBounds): Judgement {
  const backlogs = rounds.filter((seen) => {
    const answers = seen.filter(isAnswer);
    return (
      answers.length >= LEAST_ANSWERS && median(answers.map(({ latencyMs }) => latencyMs)) >= LEAST_WAIT * bounds.idleMs
    );
  });
  const shares = backlogs.map((seen) => invertedShare(seen, bounds)).filter((share) => !Number.isNaN(share));
  const share = medianOfRounds(shares);
  const figures = {
    rounds: shares.length,
    invertedShare: share?.value ?? null,
    low: share?.low ?? null,
    high: share?.high ?? null,
  };
  if (share === null)
    return untold(
      `Only ${shares.length} of ${rounds.length} rounds had a backlog of answers that was longer than what ${bounds.callers} callers wait for; six are needed.`,
      figures,
    );
  const sentence =
    `In ${inPercent(share.value)} of the pairs of waiting requests the later one ended first ` +
    `(95 %: ${inPercent(share.low)} to ${inPercent(share.high)}, ${shares.length} rounds); at most ${inPercent(INVERTED_SHARE)} may.`;
  return { verdict: judgeMedian(shares, INVERTED_SHARE), figures, sentence };
}

/** End of a burst, from the time at which its waiting clients send again, or would. */
export interface BurstEnd {
  /** To the last answer. */
  readonly durationMs: number;
  /** Share of the requests waited for that were answered. */
  readonly answeredShare: number;
  /** Work that was waiting at that time, by the capacity. */
  readonly leftMs: number;
}

/** A burst that was left alone, and one whose clients all sent again. */
export interface RetryRound {
  readonly control: BurstEnd;
  readonly retried: BurstEnd;
}

/** Largest duration with retries, as a multiple of that without. Twice is all work done twice. */
const RETRY_RATIO = 1.5;
const LEAST_ANSWERED = 0.9;

/** Retries: a burst whose clients send again takes no longer than one without. */
export function judgeRetries(
  rounds: readonly RetryRound[],
  { toleranceMs, how }: Pick<Bounds, "toleranceMs"> & { readonly how: string },
): Judgement {
  const isWhole = ({ answeredShare, leftMs }: BurstEnd) =>
    answeredShare >= LEAST_ANSWERED && leftMs >= LEAST_LEFT * toleranceMs;
  const whole = rounds.filter(({ control, retried }) => isWhole(control) && isWhole(retried));
  const ratios = whole.map(({ control, retried }) => retried.durationMs / control.durationMs);
  const ratio = medianOfRounds(ratios);
  const figures = {
    rounds: ratios.length,
    ratio: ratio?.value ?? null,
    low: ratio?.low ?? null,
    high: ratio?.high ?? null,
  };
  if (ratio === null) {
    return untold(
      `Only ${ratios.length} of ${rounds.length} rounds had work waiting and nine of ten requests answered, with retries and without; six are needed.`,
      figures,
    );
  }
  const fixed = (value: number) => value.toFixed(2);
  const sentence =
    `A burst whose clients ${how} took ${fixed(ratio.value)} times as long as one without retries ` +
    `(95 %: ${fixed(ratio.low)} to ${fixed(ratio.high)}, ${ratios.length} rounds); ${RETRY_RATIO} is the most, 2 is all work done twice.`;
  return { verdict: judgeMedian(ratios, RETRY_RATIO), figures, sentence };
}
