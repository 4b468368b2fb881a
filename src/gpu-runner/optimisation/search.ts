import type { Candidate } from "../../protocol/optimisation.ts";
import { CandidatePicker, RIVAL_ROUNDS } from "./candidate-picker.ts";
import { type Decision, FIRST_PAIRS, type Measure, meetDefault } from "./meet-default.ts";
import { poolMeasurements } from "./pool-measurements.ts";
import type { SearchOutcome, SearchProblem, SearchReport, SearchStep } from "./search-problem.ts";
import { TrialLog } from "./trial-log.ts";

/** Of the trials and of the budget, what rivals get at most; and where trials are few, what the first ones get. */
const CONFIRM_SHARE = 0.25;
const DESIGN_SHARE = 0.4;
/** Of the budget, what is kept for the decision between the best and what is served now. */
const DECIDE_SHARE = 0.25;

/**
 * Searches for the best configuration by Bayesian optimisation under constraints (Gardner et al., ICML 2014): what is
 * served now, then a design where the model knows least, then again and again the candidate of the highest expected
 * improvement over the best that reaches every target, times the chance that it reaches them and works. While none
 * does, the improvement is that of the worst factor by which a target is missed. It ends where nothing promises
 * more than noise would hide. Rivals that noise cannot tell apart are then measured again, in turn; last, the best of
 * them meets what is served now.
 *
 * A generator without clock or device: it yields what to measure and is told what that came to.
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

/** Tries and confirms candidates; whether it ended because nothing promised more. */
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
    // What is kept back is for rivals first; what they leave over goes on searching.
    const isKeptBack = isSpent(problem, log, CONFIRM_SHARE);
    const next = picker.pickFirst(isKeptBack ? ["confirm", "search"] : ["search", "confirm"]);
    if (next === null) return true;
    yield* measure(next.candidate, next.phase);
  }
  return false;
}

/** First trials: two for each thing that the model has to learn, as far as there are trials for it. */
function countDesign({ candidates, maxTrials }: SearchProblem): number {
  const distinct = (read: (candidate: Candidate) => unknown) => new Set(candidates.map(read)).size;
  const levels = distinct(({ deviceKey }) => deviceKey) + distinct(({ variant }) => variant);
  const settings = [({ threads }: Candidate) => threads, (c: Candidate) => c.maxRows, (c: Candidate) => c.concurrency];
  const axes = new Set(candidates.flatMap((each) => Object.keys(each.axes ?? {}))).size;
  const wanted = 2 * (levels - 1 + settings.filter((read) => distinct(read) > 1).length + axes);
  return Math.max(1, Math.min(wanted, Math.floor(maxTrials * DESIGN_SHARE)));
}

/** Whether trials and budget, less a share of them and what the decision wants, leave no room for a usual measurement. */
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
