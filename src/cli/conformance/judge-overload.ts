import { wilsonInterval } from "../../stats/distribution/intervals.ts";
import { quantile } from "../../stats/distribution/summary.ts";
import {
  type Bounds,
  doubtLag,
  inMs,
  inPercent,
  inShare,
  isAnswer,
  judgeEnd,
  type Judgement,
  judgeShare,
  type Seen,
  untold,
} from "./judgement.ts";

/** Largest share of requests that may wait past their deadline. */
const LATE_ENDS = 0.01;
/** Statuses of a refusal: unprocessable for this deadline, too many requests, unavailable. */
const REFUSALS = new Set([422, 429, 503]);
/** A refusal comes in this share of the deadline, or it is an expiry. */
const EARLY = 0.5;
/** Least share of the capacity that has to be answered in time. */
const LEAST_GOODPUT = 0.5;

/** Largest share of connections that were refused or broke: beyond it a server may be dead, whose ends tell nothing. */
const BROKEN_SHARE = 0.01;

/** Reason why too many connections broke for a verdict on their ends; null where they did not. */
export function findBroken(seen: readonly Seen[]): string | null {
  const broken = countOf(seen, 0);
  if (broken <= BROKEN_SHARE * seen.length) return null;
  return (
    `${broken.toLocaleString("en")} of ${seen.length.toLocaleString("en")} connections were refused or broke, ` +
    `as those of a dead server do; at most ${inPercent(BROKEN_SHARE)} may.`
  );
}

function countOf(seen: readonly Seen[], end: number): number {
  return seen.filter(({ status }) => status === end).length;
}

/** Expiry on time: every request has its end, an answer or an error, by its deadline and the tolerance. */
export function judgeExpiry(seen: readonly Seen[], bounds: Bounds): Judgement {
  const ends = seen.map((each) => judgeEnd(each, bounds));
  const trials = ends.filter((end) => end !== "blurred").length;
  const late = ends.filter((end) => end === "late").length;
  // Where stalls blurred all of them, `doubtLag` replaces this sentence.
  if (trials === 0) return doubtLag(untold("No request was sent."), seen, bounds);
  const broken = countOf(seen, 0);
  const silent = countOf(seen, -1);
  const worstMs = seen.reduce(
    (most, { latencyMs }) => Math.max(most, latencyMs - bounds.deadlineMs),
    Number.NEGATIVE_INFINITY,
  );
  const { low, high } = wilsonInterval(late, trials);
  const figures = { requests: trials, late, lateShare: late / trials, low, high, broken, silent, worstMs };
  const tail = silent > 0 ? `; ${silent} had none when they were closed` : "";
  const sentence =
    `${inShare(late, trials)} had no end ${inMs(bounds.toleranceMs)} after their deadline of ${inMs(bounds.deadlineMs)}; ` +
    `at most ${inPercent(LATE_ENDS)} may. The last end came ${inMs(Math.abs(worstMs))} ${worstMs < 0 ? "before" : "after"} its deadline${tail}.`;
  const verdict = judgeShare(late, trials, LATE_ENDS);
  const doubt = verdict === "failed" ? null : findBroken(seen);
  return doubtLag(doubt === null ? { verdict, figures, sentence } : untold(doubt, figures), seen, bounds);
}

/** What an overload is judged by. */
export interface OverloadBounds extends Bounds {
  /** Largest share of late ones among the admitted. */
  readonly lateShare: number;
  readonly capacityPerSecond: number;
  /** Duration of all arrivals. */
  readonly durationMs: number;
}

/**
 * Refusal against queueing: what is admitted is answered in time, what is refused is refused early, and refusing does
 * not replace working.
 */
export function judgeRefusal(seen: readonly Seen[], bounds: OverloadBounds): Judgement {
  const refused = seen.filter((each) => REFUSALS.has(each.status) && each.latencyMs <= EARLY * bounds.deadlineMs);
  const early = new Set(refused);
  const admitted = seen.filter((each) => !early.has(each) && judgeEnd(each, bounds) !== "blurred");
  const inTime = admitted.filter((each) => isAnswer(each) && judgeEnd(each, bounds) === "in-time").length;
  const late = admitted.length - inTime;
  const goodputShare = (1e3 * inTime) / bounds.durationMs / bounds.capacityPerSecond;
  const refusedMs = refused.map(({ latencyMs }) => latencyMs);
  const interval = admitted.length === 0 ? null : wilsonInterval(late, admitted.length);
  const figures = {
    requests: seen.length,
    admitted: admitted.length,
    refused: refused.length,
    late,
    lateShare: admitted.length === 0 ? null : late / admitted.length,
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    goodputShare,
    refusedP50Ms: refusedMs.length === 0 ? null : quantile(refusedMs, 0.5),
    refusedP99Ms: refusedMs.length === 0 ? null : quantile(refusedMs, 0.99),
  };
  return doubtLag(nameRefusal(figures, bounds), seen, bounds);
}

interface RefusalFigures extends Record<string, number | null> {
  requests: number;
  admitted: number;
  refused: number;
  late: number;
  goodputShare: number;
  refusedP50Ms: number | null;
}

function nameRefusal(figures: RefusalFigures, { lateShare, deadlineMs }: OverloadBounds): Judgement {
  const { requests, admitted, refused, late, goodputShare, refusedP50Ms } = figures;
  if (requests === 0) return untold("No request was sent.", figures);
  const isSlack = goodputShare < LEAST_GOODPUT;
  const told = [
    admitted === 0
      ? "No request was admitted"
      : `Of the admitted, ${inShare(late, admitted)} had no answer in time; at most ${inPercent(lateShare)} may`,
    `answers in time were ${inPercent(goodputShare)} of the capacity; at least ${inPercent(LEAST_GOODPUT)} must be`,
    refusedP50Ms === null
      ? `none was refused within half of ${inMs(deadlineMs)}`
      : `${inPercent(refused / requests)} were refused, in ${inMs(refusedP50Ms)} (median)`,
  ];
  const sentence = `${told.join("; ")}.`;
  const verdict = isSlack ? "failed" : judgeShare(late, admitted, lateShare);
  if (verdict === "passed" && refused === 0) {
    return untold(
      `Nothing was refused and nothing was late: twice the measured capacity was no overload. ${sentence}`,
      figures,
    );
  }
  if (verdict === "untold") return untold(`${sentence} More requests are needed to tell.`, figures);
  return { verdict, figures, sentence };
}

/** A server has recovered when this many consecutive fresh requests have nearly all been answered in time. */
export const FRESH = 20;
const FRESH_IN_TIME = 19;

/**
 * Time from the end of an overload to the first of 20 consecutive fresh requests of which 19 are answered in time, in
 * milliseconds; null if the server does not recover.
 */
export function recoveryMs(fresh: readonly Seen[], bounds: Bounds): number | null {
  const good = fresh.map((each) => isAnswer(each) && judgeEnd(each, bounds) !== "late");
  for (let first = 0; first + FRESH <= good.length; first++) {
    const inTime = good.slice(first, first + FRESH).filter(Boolean).length;
    if (good[first] === true && inTime >= FRESH_IN_TIME) return fresh[first]!.atMs - fresh[0]!.atMs;
  }
  return null;
}

/** Recovery: after each overload, fresh requests meet their deadlines again within `mostMs`. */
export function judgeRecovery(
  rounds: readonly (readonly Seen[])[],
  { mostMs, watchedMs, ...bounds }: Bounds & { readonly mostMs: number; readonly watchedMs: number },
): Judgement {
  const times = rounds.map((fresh) => recoveryMs(fresh, bounds));
  const slow = times.filter((time) => time === null || time > mostMs).length;
  const worstMs = times.includes(null) ? null : Math.max(...times.map((time) => time ?? 0));
  const figures = { rounds: times.length, slow, worstMs, mostMs };
  const told =
    worstMs === null ? `not within the ${inMs(watchedMs)} that were watched` : `within ${inMs(worstMs)} at worst`;
  const sentence = `After ${times.length} overloads, ${FRESH_IN_TIME} of ${FRESH} fresh requests met their deadlines again ${told}; ${inMs(mostMs)} is the most.`;
  const verdict = slow === 0 ? "passed" : slow > times.length / 2 ? "failed" : "untold";
  return doubtLag({ verdict, figures, sentence }, rounds.flat(), bounds);
}
