import { median } from "../../../stats/distribution/summary.ts";
import { isSurelyLarger, type RatioEstimate, ratioOfMedians } from "../../../stats/compare/resample-medians.ts";

/** Next step of a search, and its progress. */
export type TunerStep = {
  readonly candidate: number;
  readonly rung: number;
  readonly candidatesLeft: number;
  /** Completed and planned steps of this rung. */
  readonly done: number;
  readonly total: number;
} & (
  | {
      /** Compile it, compare its outputs with the reference, and time it by the shortest run of this check. */
      readonly kind: "check";
      /** Run time from which a second run is not needed. */
      readonly hopelessMs: number;
    }
  /** Time one run. */
  | { readonly kind: "run" }
);

/** Outcome of a step, and the elapsed part of the budget. */
export type TunerReport = { readonly elapsedMs: number } & (
  | { readonly outcome: "ran"; readonly ms: number }
  | { readonly outcome: "wrong" | "invalid"; readonly reason: string }
);

/** Outcome of a candidate. */
export interface Trial {
  outcome: "timed" | "too-slow" | "wrong" | "invalid" | "untried";
  reason: string | null;
  /** Its runs, rung by rung; the first rung is the shortest run of its check. */
  readonly rungsMs: number[][];
}

export interface TunerOutcome {
  /** In the order of the candidates. */
  readonly trials: readonly Trial[];
  /** Null where no candidate is correct. */
  readonly best: number | null;
  /** Paired runs that the gain is computed from; those of the default are null where it is excluded. */
  readonly bestMs: readonly number[];
  readonly untunedMs: readonly number[] | null;
  readonly gain: RatioEstimate | null;
  /** False where the budget cut the search short. */
  readonly complete: boolean;
}

export interface TunerSettings {
  /** Largest share of the budget that is reserved for the rungs. */
  readonly rungShare: number;
  /** Factor to the fastest after its check beyond which a candidate is dropped. */
  readonly slowFactor: number;
  /** Rounds of the first rung. Each further rung doubles a candidate's runs. */
  readonly firstRounds: number;
  /** Share of the candidates that a rung keeps. */
  readonly keep: number;
  /** Rounds of the last rung, between the best and the default. */
  readonly lastRounds: number;
}

export const SUCCESSIVE_HALVING: TunerSettings = {
  rungShare: 0.5,
  slowFactor: 4,
  firstRounds: 2,
  keep: 0.5,
  lastRounds: 24,
};

/** Up to here a second run is cheap, and the first may include work that a driver compiles late. */
const CHEAP_RUN_MS = 250;

/** Least share of the budget for the rungs, since their cost is an estimate. */
const LEAST_RUNG_SHARE = 0.1;
/** Approximate time to submit a run and read its timestamps. */
const RUN_OVERHEAD_MS = 1;
/** Safety factor on the first times, which predict later ones poorly. */
const CAUTION = 1.5;

/** Limit beyond which further rounds add no information. */
const MOST_ROUNDS = 48;

/**
 * Searches candidates by successive halving: each rung times all remaining ones in turn, round by round, and keeps the
 * faster half. Every rung has an equal share of the remaining budget. The first candidate is the untuned default where
 * `hasDefault` is set. It stays to the last rung, whose runs alone decide between it and the best challenger, because
 * the runs that chose the challenger favour it. The challenger wins where it is clearly faster. This generator has no
 * clock or device: it yields steps and receives their outcomes.
 * Source: Jamieson and Talwalkar, AISTATS 2016.
 */
export function* searchCandidates(
  count: number,
  hasDefault: boolean,
  budgetMs: number,
  settings: TunerSettings = SUCCESSIVE_HALVING,
): Generator<TunerStep, TunerOutcome, TunerReport> {
  const search = Array.from({ length: count }, (): Contestant => ({
    trial: { outcome: "untried", reason: null, rungsMs: [] },
    costMs: 0,
    pairedMs: [],
  }));
  const clock = { elapsedMs: 0, budgetMs, cut: false };
  yield* screen(search, hasDefault, clock, settings);
  const isDefaultIn = hasDefault && search[0]?.trial.outcome === "timed";
  let left = rank(search, indexesOf(search));
  let finalMs: number[][] = [];
  for (let rung = 1; left.length > 0; rung++) {
    const isLast = left.length <= 2;
    const rounds = isLast ? settings.lastRounds : countRounds(rung, settings);
    const untilMs = clock.elapsedMs + (budgetMs - clock.elapsedMs) / countRungs(left.length, settings);
    const runsMs = yield* runRung(search, left, { rung, rounds, untilMs: isLast ? budgetMs : untilMs }, clock);
    if (isLast) {
      finalMs = runsMs[0]?.length === 0 ? left.map((index) => search[index]?.pairedMs ?? []) : runsMs;
      break;
    }
    left = narrow(rank(search, left), keepCount(left.length, settings), isDefaultIn);
  }
  return decide(search, left, finalMs, isDefaultIn, !clock.cut);
}

interface Contestant {
  readonly trial: Trial;
  /** Total cost of its last step. */
  costMs: number;
  /** Its runs of complete rounds: every remaining candidate has had the same ones. */
  pairedMs: number[];
}

interface BudgetClock {
  elapsedMs: number;
  readonly budgetMs: number;
  /** Whether anything was left out for lack of time. */
  cut: boolean;
}

/** Checks candidates in order, and always the default, until the remaining budget is only enough for the rungs. */
function* screen(
  search: readonly Contestant[],
  hasDefault: boolean,
  clock: BudgetClock,
  settings: TunerSettings,
): Generator<TunerStep, void, TunerReport> {
  const { slowFactor, rungShare } = settings;
  let fastestMs = Number.POSITIVE_INFINITY;
  let firstDoneMs = 0;
  for (const [candidate, contestant] of search.entries()) {
    const wantedMs = expectRungsMs(search, slowFactor * fastestMs, settings);
    const reserveMs = clock.budgetMs * Math.min(rungShare, Math.max(LEAST_RUNG_SHARE, wantedMs / clock.budgetMs));
    // The second check has only the first one's runs to go by, if there were any.
    const untimedMs = Number.isFinite(fastestMs) ? 2 * fastestMs : 0;
    const checkMs = candidate < 2 ? untimedMs : (clock.elapsedMs - firstDoneMs) / (candidate - 1);
    if (candidate > 0 && clock.elapsedMs + checkMs > clock.budgetMs - reserveMs) {
      clock.cut = true;
      break;
    }
    const progress = { rung: 0, candidatesLeft: search.length, done: candidate, total: search.length };
    const report = yield {
      kind: "check",
      candidate,
      hopelessMs: Math.max(CHEAP_RUN_MS, 3 * slowFactor * fastestMs),
      ...progress,
    };
    clock.elapsedMs = report.elapsedMs;
    // The first check comes after the uploads and the reference, and warms the device up.
    if (candidate === 0) firstDoneMs = report.elapsedMs;
    if (report.outcome !== "ran") {
      Object.assign(contestant.trial, { outcome: report.outcome, reason: report.reason });
      continue;
    }
    contestant.trial.outcome = "timed";
    contestant.trial.rungsMs.push([report.ms]);
    contestant.pairedMs.push(report.ms);
    contestant.costMs = report.ms;
    fastestMs = Math.min(fastestMs, report.ms);
  }
  for (const [candidate, { trial, costMs }] of search.entries()) {
    if (trial.outcome !== "timed" || costMs <= slowFactor * fastestMs || (hasDefault && candidate === 0)) continue;
    trial.outcome = "too-slow";
    trial.reason = `it took ${format(costMs)} ms, the fastest ${format(fastestMs)} ms`;
  }
}

/** Expected cost of the rungs for the candidates so far: from the second on, half the candidates run twice as often. */
function expectRungsMs(search: readonly Contestant[], slowMs: number, settings: TunerSettings): number {
  const costs = search.flatMap(({ trial, costMs }) =>
    trial.outcome === "timed" && costMs <= slowMs ? [costMs + RUN_OVERHEAD_MS] : [],
  );
  const roundMs = costs.reduce((sum, cost) => sum + cost, 0);
  const rungs = countRungs(costs.length, settings);
  const lastMs = costs.length === 0 ? 0 : (2 * settings.lastRounds * roundMs) / costs.length;
  return CAUTION * ((rungs / 2) * settings.firstRounds * roundMs + lastMs);
}

/**
 * Times whole rounds in which every candidate runs once. The order rotates from round to round, so that none always
 * follows the same. A round that would not fit is not begun. Returns the runs of the complete rounds, by place in
 * `left`.
 */
function* runRung(
  search: readonly Contestant[],
  left: readonly number[],
  { rung, rounds, untilMs }: { rung: number; rounds: number; untilMs: number },
  clock: BudgetClock,
): Generator<TunerStep, number[][], TunerReport> {
  const contestants = left.map((index) => search[index]!);
  const runsMs: number[][] = left.map(() => []);
  for (const { trial } of contestants) trial.rungsMs.push([]);
  for (let round = 0; round < rounds; round++) {
    const expectedMs = contestants.reduce((sum, { costMs }) => sum + costMs, 0);
    if (clock.elapsedMs + expectedMs > untilMs) {
      clock.cut = true;
      break;
    }
    const roundMs: number[] = [];
    for (let turn = 0; turn < left.length && clock.elapsedMs <= clock.budgetMs; turn++) {
      const place = (turn + round) % left.length;
      const contestant = contestants[place]!;
      const progress = { candidatesLeft: left.length, done: round * left.length + turn, total: rounds * left.length };
      const report = yield { kind: "run", candidate: left[place]!, rung, ...progress };
      if (report.outcome !== "ran") throw new TypeError("a run has no verdict");
      contestant.costMs = report.elapsedMs - clock.elapsedMs;
      clock.elapsedMs = report.elapsedMs;
      contestant.trial.rungsMs.at(-1)?.push(report.ms);
      roundMs[place] = report.ms;
    }
    if (Object.keys(roundMs).length < left.length) {
      clock.cut = true;
      break;
    }
    for (const [place, ms] of roundMs.entries()) {
      runsMs[place]?.push(ms);
      contestants[place]?.pairedMs.push(ms);
    }
  }
  return runsMs;
}

function decide(
  search: readonly Contestant[],
  left: readonly number[],
  finalMs: readonly number[][],
  isDefaultIn: boolean,
  complete: boolean,
): TunerOutcome {
  const trials = search.map(({ trial }) => trial);
  const untunedMs = isDefaultIn ? (finalMs[left.indexOf(0)] ?? []) : null;
  const places = left.map((_, place) => place).toSorted((a, b) => median(finalMs[a]!) - median(finalMs[b]!));
  const challenger = places.find((place) => !isDefaultIn || left[place] !== 0);
  const bestMs = challenger === undefined ? [] : (finalMs[challenger] ?? []);
  if (untunedMs === null) {
    return { trials, best: left[challenger ?? -1] ?? null, bestMs, untunedMs, gain: null, complete };
  }
  const gain = challenger === undefined ? null : ratioOfMedians(untunedMs, bestMs);
  if (challenger !== undefined && gain !== null && isSurelyLarger(gain, untunedMs, bestMs)) {
    return { trials, best: left[challenger] ?? null, bestMs, untunedMs, gain, complete };
  }
  return { trials, best: 0, bestMs: untunedMs, untunedMs, gain: { ratio: 1, low: 1, high: 1 }, complete };
}

/** Candidates that are correct and fast enough. */
function indexesOf(search: readonly Contestant[]): number[] {
  return [...search.keys()].filter((index) => search[index]?.trial.outcome === "timed");
}

/** Fastest first; of two equal ones the earlier. */
function rank(search: readonly Contestant[], indexes: readonly number[]): number[] {
  const medians = new Map(indexes.map((index) => [index, median(search[index]!.pairedMs)]));
  return indexes.toSorted((a, b) => (medians.get(a) ?? 0) - (medians.get(b) ?? 0) || a - b);
}

/** First of a ranking, and always the default. */
function narrow(ranked: readonly number[], count: number, isDefaultIn: boolean): number[] {
  const kept = ranked.slice(0, count);
  return !isDefaultIn || kept.includes(0) ? kept : [...kept.slice(0, -1), 0];
}

function countRounds(rung: number, { firstRounds }: TunerSettings): number {
  return Math.min(MOST_ROUNDS, firstRounds * 2 ** Math.max(0, rung - 2));
}

function keepCount(left: number, { keep }: TunerSettings): number {
  return Math.max(2, Math.min(left - 1, Math.ceil(left * keep)));
}

/** Number of rungs from here on, including the last. */
function countRungs(left: number, settings: TunerSettings): number {
  return left <= 2 ? 1 : 1 + countRungs(keepCount(left, settings), settings);
}

function format(ms: number): string {
  return ms.toPrecision(3);
}
