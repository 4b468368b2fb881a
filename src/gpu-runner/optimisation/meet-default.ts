import { isSurelyLarger, ratioOfMedians } from "../../stats/ratio-of-medians.ts";
import type { CandidatePicker } from "./candidate-picker.ts";
import type { SearchProblem, SearchReport, SearchStep } from "./search-problem.ts";
import type { OpenTrial, TrialLog } from "./trial-log.ts";

/** Pairs after which a clear case is decided, and those after which any is. */
export const FIRST_PAIRS = 5;
const MOST_PAIRS = 10;

/** Measures a candidate once. */
export type Measure = (candidate: number, phase: SearchStep["phase"]) => Generator<SearchStep, void, SearchReport>;

export interface Decision {
  /** Null where nothing reaches every target. */
  readonly best: OpenTrial | null;
  /** Whether the budget cut it short. */
  readonly isCut: boolean;
}

/** Scores of rounds in which both were measured, by place. */
interface Pairs {
  readonly ofDefault: number[];
  readonly ofChallenger: number[];
}

/**
 * Decides between what is served now and the best challenger, by pairs of new measurements alone: those that chose the
 * challenger flatter it. The default stays unless the challenger is surely better, or alone reaches every target.
 */
export function* meetDefault(
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
    // Neither always follows the other.
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

/** Whether more pairs may tell what these do not. There are two looks only: each is wrong for one in forty of those alike. */
function isOpen({ ofDefault, ofChallenger }: Pairs): boolean {
  if (ofDefault.length !== FIRST_PAIRS) return ofDefault.length < MOST_PAIRS;
  const { ratio, low } = ratioOfMedians(ofChallenger, ofDefault);
  return ratio > 1 && low !== null && low <= 1;
}

function isBetter({ ofDefault, ofChallenger }: Pairs): boolean {
  return ofDefault.length > 0 && isSurelyLarger(ratioOfMedians(ofChallenger, ofDefault), ofChallenger, ofDefault);
}
