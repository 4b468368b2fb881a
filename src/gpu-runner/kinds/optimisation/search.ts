import type { Candidate } from "../../../protocol/jobs/optimisation.ts";
import { isSurelyLarger, ratioOfMedians } from "../../../stats/compare/resample-medians.ts";
import { CandidatePicker, RIVAL_ROUNDS } from "./candidate-picker.ts";
import {
  poolMeasurements,
  type SearchOutcome,
  type SearchProblem,
  type SearchReport,
  type SearchStep,
} from "./search-problem.ts";
import { type OpenTrial, TrialLog } from "./trial-log.ts";

/** Pairs after which a clear case is decided, and after which any case is. */
const FIRST_PAIRS = 5;
const MOST_PAIRS = 10;

/** Measures a candidate once. */
type Measure = (candidate: number, phase: SearchStep["phase"]) => Generator<SearchStep, void, SearchReport>;

interface Decision {
  /** Null where nothing reaches every target. */
  readonly best: OpenTrial | null;
  /** Whether the budget cut it short. */
  readonly isCut: boolean;
}

/** Scores of rounds in which both were measured, in order. */
interface Pairs {
  readonly ofDefault: number[];
  readonly ofChallenger: number[];
}

/**
 * Decides between the current configuration and the best challenger, by new pairs of measurements alone.
 * Earlier measurements flatter the challenger that they selected.
 * The default stays unless the challenger is significantly better, or alone reaches every target.
 */
function* meetDefault(
  { standing, budgetMs }: Pick<SearchProblem, "standing" | "budgetMs">,
  log: TrialLog,
  picker: Pick<CandidatePicker, "mayReach">,
  measure: Measure,
): Generator<SearchStep, Decision, SearchReport> {
  const [top = null] = log.feasible();
  const ofDefault = log.measured().find(({ candidate }) => candidate === standing);
  const challenger = log.feasible().find(({ candidate }) => candidate !== standing);
  if (ofDefault === undefined || challenger === undefined || top === ofDefault || !picker.mayReach(ofDefault)) {
    return { best: top, isCut: false };
  }
  const pairs: Pairs = { ofDefault: [], ofChallenger: [] };
  const areThere = () => !ofDefault.failed && !challenger.failed;
  let isCut = false;
  while (areThere() && isOpen(pairs)) {
    isCut = log.elapsedMs + 2 * log.usualMs > budgetMs;
    if (isCut) break;
    const both = [ofDefault, challenger];
    // The order alternates, so that neither always runs second.
    if (pairs.ofDefault.length % 2 === 1) both.reverse();
    for (const { candidate } of both) yield* measure(candidate, "decide");
    if (!areThere()) break;
    pairs.ofDefault.push(log.scoreOf(ofDefault.rounds.at(-1)!));
    pairs.ofChallenger.push(log.scoreOf(challenger.rounds.at(-1)!));
  }
  const feasible = log.feasible();
  const isKept = feasible.includes(ofDefault) && !(feasible.includes(challenger) && isBetter(pairs));
  const others = feasible.includes(challenger) ? challenger : (feasible[0] ?? null);
  return { best: isKept ? ofDefault : others, isCut };
}

/**
 * Whether more pairs could change the decision.
 * Only two looks are made; each errs in one of forty cases without a difference.
 */
function isOpen({ ofDefault, ofChallenger }: Pairs): boolean {
  if (ofDefault.length !== FIRST_PAIRS) return ofDefault.length < MOST_PAIRS;
  const { ratio, low } = ratioOfMedians(ofChallenger, ofDefault);
  return ratio > 1 && low !== null && low <= 1;
}

function isBetter({ ofDefault, ofChallenger }: Pairs): boolean {
  return ofDefault.length > 0 && isSurelyLarger(ratioOfMedians(ofChallenger, ofDefault), ofChallenger, ofDefault);
}

/** Shares of trials and budget: the most for rivals, and for the first trials where trials are few. */
const CONFIRM_SHARE = 0.25;
const DESIGN_SHARE = 0.4;
/** Share of the budget kept for the decision between the best and the current configuration. */
const DECIDE_SHARE = 0.25;

/**
 * Searches the best configuration by Bayesian optimisation under constraints.
 * The current configuration comes first, then a design where the model knows least.
 * Then follows, repeatedly, the candidate of the highest expected improvement over the best that reaches every target.
 * The improvement is weighted by the chance that the candidate reaches the targets and works.
 * While none reaches every target, the improvement is that of the worst factor by which a target is missed.
 * The search ends where nothing promises more than noise would hide.
 * Rivals that noise cannot separate are then measured again, in turn; last, the best of them meets the current
 * configuration.
 * A generator without clock or device: it yields the next measurement and receives its result.
 * Source: Gardner et al., ICML 2014.
 */
export function* searchConfigurations(problem: SearchProblem): Generator<SearchStep, SearchOutcome, SearchReport> {
  const log = new TrialLog(problem);
  const picker = new CandidatePicker(problem, log);
  const measure: Measure = function* measure(candidate, phase) {
    const predicted = phase === "search" ? picker.predict(candidate) : null;
    const [top] = log.feasible();
    const best = top === undefined ? null : poolMeasurements(top.rounds);
    log.note(candidate, predicted, yield { candidate, phase, done: log.done, best });
  };
  if (problem.standing !== null) yield* measure(problem.standing, "default");
  const isExhausted = yield* explore(problem, log, picker, measure);
  const decision = yield* meetDefault(problem, log, picker, measure);
  return conclude(problem, log, isExhausted, decision);
}

/** Tries and confirms candidates; true where it ended because nothing promised more. */
function* explore(
  problem: SearchProblem,
  log: TrialLog,
  picker: CandidatePicker,
  measure: Measure,
): Generator<SearchStep, boolean, SearchReport> {
  const designed = countDesign(problem);
  while (log.trials.length < designed && !isSpent(problem, log, CONFIRM_SHARE)) {
    const next = picker.pickUnknown();
    if (next === null) break;
    yield* measure(next, "design");
  }
  while (!isSpent(problem, log, 0)) {
    // The reserve is for rivals first; the search goes on with the rest.
    const isKeptBack = isSpent(problem, log, CONFIRM_SHARE);
    const next = picker.pickFirst(isKeptBack ? ["confirm", "search"] : ["search", "confirm"]);
    if (next === null) return true;
    yield* measure(next.candidate, next.phase);
  }
  return false;
}

/** Number of first trials: two for each parameter that the model has to learn, as far as trials allow. */
function countDesign({ candidates, maxTrials }: SearchProblem): number {
  const distinct = (read: (candidate: Candidate) => unknown) => new Set(candidates.map(read)).size;
  const levels = distinct(({ deviceKey }) => deviceKey) + distinct(({ variant }) => variant);
  const settings = [({ threads }: Candidate) => threads, (c: Candidate) => c.maxRows, (c: Candidate) => c.concurrency];
  const axes = new Set(candidates.flatMap((each) => Object.keys(each.axes ?? {}))).size;
  const wanted = 2 * (levels - 1 + settings.filter((read) => distinct(read) > 1).length + axes);
  return Math.max(1, Math.min(wanted, Math.floor(maxTrials * DESIGN_SHARE)));
}

/** Whether trials and budget, less a reserved share and the decision's part, leave no room for a usual measurement. */
function isSpent({ budgetMs, maxTrials, standing, eligible }: SearchProblem, log: TrialLog, reservedShare: number) {
  const { done, elapsedMs, usualMs } = log;
  if (done === 0) return false;
  const decides = standing !== null && standing < eligible;
  const decideMs = decides ? Math.min(DECIDE_SHARE * budgetMs, 2 * FIRST_PAIRS * usualMs) : 0;
  const reservedMs = Math.min(reservedShare * budgetMs, 2 * RIVAL_ROUNDS * usualMs);
  const trials = maxTrials - Math.min(reservedShare * maxTrials, 2 * RIVAL_ROUNDS);
  return done + 1 > trials || elapsedMs + usualMs > budgetMs - decideMs - reservedMs;
}

function conclude(
  { candidates }: SearchProblem,
  log: TrialLog,
  isExhausted: boolean,
  { best, isCut }: Decision,
): SearchOutcome {
  const nearest = best === null ? log.nearest() : undefined;
  return {
    trials: log.trials.map(({ candidate, rounds, predicted, failed }) => ({
      candidate,
      rounds: failed ? [] : rounds,
      predicted,
    })),
    best: best === null ? null : log.trials.indexOf(best),
    nearest: nearest === undefined ? null : log.trials.indexOf(nearest),
    complete: !isCut && (isExhausted || log.trials.length === candidates.length),
  };
}
