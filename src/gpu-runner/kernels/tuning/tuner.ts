import { median } from "../../../stats/distribution/summary.ts";
import { isSurelyLarger, type RatioEstimate, ratioOfMedians } from "../../../stats/compare/resample-medians.ts";

/** What the search wants done next, and how far it is. */
export type TunerStep = {
  readonly candidate: number;
  readonly rung: number;
  readonly candidatesLeft: number;
  /** Steps of this rung that are done, and those planned. */
  readonly done: number;
  readonly total: number;
} & (
  | {
      /** Compile it, compare its outputs with the reference, and time it by the shortest run of this check. */
      readonly kind: "check";
      /** A run that takes longer needs no second one. */
      readonly hopelessMs: number;
    }
  /** Time one run. */
  | { readonly kind: "run" }
);

/** What a step came to, and how much of the budget is spent. */
export type TunerReport = { readonly elapsedMs: number } & (
  | { readonly outcome: "ran"; readonly ms: number }
  | { readonly outcome: "wrong" | "invalid"; readonly reason: string }
);

/** What became of a candidate. */
export interface Trial {
  outcome: "timed" | "too-slow" | "wrong" | "invalid" | "untried";
  reason: string | null;
  /** Its runs, rung by rung; the first rung is the shortest run of its check. */
  readonly rungsMs: number[][];
}

export interface TunerOutcome {
  /** By candidate. */
  readonly trials: readonly Trial[];
  /** Null where no candidate is right. */
  readonly best: number | null;
  /** Runs that the gain is taken from, in pairs; those of the default are null where it is out. */
  readonly bestMs: readonly number[];
  readonly untunedMs: readonly number[] | null;
  readonly gain: RatioEstimate | null;
  /** False where the budget cut the search short. */
  readonly complete: boolean;
}

export interface TunerSettings {
  /** At most this share of the budget is kept back from checking, for the rungs. */
  readonly rungShare: number;
  /** So many times slower than the fastest after its check, a candidate is given up. */
  readonly slowFactor: number;
  /** Rounds of the first rung. Each further one doubles what a candidate has had so far. */
  readonly firstRounds: number;
  /** Share of the candidates that a rung keeps. */
  readonly keep: number;
  /** Rounds of the last rung, in which the best meets the default. */
  readonly lastRounds: number;
}

export const SUCCESSIVE_HALVING: TunerSettings = {
  rungShare: 0.5,
  slowFactor: 4,
  firstRounds: 2,
  keep: 0.5,
  lastRounds: 24,
};

/** Up to here a second run is cheap, and the first may have paid for what a driver compiles late. */
const CHEAP_RUN_MS = 250;

/** The rungs get this share of the budget at least: what they will want is a guess. */
const LEAST_RUNG_SHARE = 0.1;
/** Submitting a run and reading its timestamps, about. */
const RUN_OVERHEAD_MS = 1;
/** The first times tell little of those to come. */
const CAUTION = 1.5;

/** More of them tell nothing new. */
const MOST_ROUNDS = 48;

/**
 * Searches candidates by successive halving (Jamieson and Talwalkar, AISTATS 2016): each rung times all
 * that are left, in turn and round by round, and keeps the faster half; every rung has an equal share
 * of what is left of the budget. The first candidate is the untuned default where `hasDefault` says so:
 * it stays to the last rung, whose runs alone decide between it and the best challenger, since the
 * runs that chose the challenger flatter it. The challenger wins where it is surely faster.
 *
 * A generator without clock or device: it yields steps and is told what they came to.
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
  /** What its last step cost, all in. */
  costMs: number;
  /** Its runs of complete rounds: every candidate that is left has had the same ones. */
  pairedMs: number[];
}

interface BudgetClock {
  elapsedMs: number;
  readonly budgetMs: number;
  /** Whether anything was left out for want of time. */
  cut: boolean;
}

/** Checks candidates in order until only what the rungs will want is left, the default in any case. */
function* screen(
  search: readonly Contestant[],
  hasDefault: boolean,
  clock: BudgetClock,
  settings: TunerSettings,
): Generator<TunerStep, void, TunerReport> {
  const { slowFactor, rungShare } = settings;
  let fastestMs = Number.POSITIVE_INFINITY;
  for (const [candidate, contestant] of search.entries()) {
    const wantedMs = expectRungsMs(search, slowFactor * fastestMs, settings);
    const reserveMs = clock.budgetMs * Math.min(rungShare, Math.max(LEAST_RUNG_SHARE, wantedMs / clock.budgetMs));
    const checkMs = clock.elapsedMs / Math.max(1, candidate);
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

/** What the rungs of those checked so far will cost: from the second on, half the candidates run twice as often. */
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
 * Times whole rounds, in each of which every candidate runs once: the order turns from round to round,
 * so that none always follows the same. A round that would not fit is not begun. Gives the runs of the
 * complete rounds, by place in `left`.
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

/** Candidates that are right and fast enough. */
function indexesOf(search: readonly Contestant[]): number[] {
  return [...search.keys()].filter((index) => search[index]?.trial.outcome === "timed");
}

/** The fastest first; the earlier one where two are equal. */
function rank(search: readonly Contestant[], indexes: readonly number[]): number[] {
  const medians = new Map(indexes.map((index) => [index, median(search[index]!.pairedMs)]));
  return indexes.toSorted((a, b) => (medians.get(a) ?? 0) - (medians.get(b) ?? 0) || a - b);
}

/** The first of a ranking, and the default whatever its rank. */
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

/** Rungs from here on, the last one included. */
function countRungs(left: number, settings: TunerSettings): number {
  return left <= 2 ? 1 : 1 + countRungs(keepCount(left, settings), settings);
}

function format(ms: number): string {
  return ms.toPrecision(3);
}
