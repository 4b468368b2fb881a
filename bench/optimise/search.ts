import { searchConfigurations } from "../../src/gpu-runner/kinds/optimisation/search.ts";
import type { SearchProblem, TrialStand } from "../../src/gpu-runner/kinds/optimisation/search-problem.ts";

/**
 * Result of a search: its place, its measurements including repeated ones, those that decided against the default, and
 * its time.
 */
export interface SearchEnd {
  readonly best: number;
  readonly trials: number;
  readonly decisions: number;
  readonly spentMs: number;
}

/** A fifth of the space. */
const TRIALS_SHARE = 0.2;

/** Searches like the runner, with a fifth of the space in trials, and enough time. */
export async function search(
  stand: TrialStand,
  problem: Pick<SearchProblem, "objective" | "targets" | "seed">,
): Promise<SearchEnd> {
  const startedMs = performance.now();
  const maxTrials = Math.floor(TRIALS_SHARE * stand.eligible);
  const steps = searchConfigurations({ ...problem, ...stand, maxTrials, budgetMs: Number.MAX_SAFE_INTEGER });
  let [trials, decisions] = [0, 0];
  let state = steps.next();
  while (!state.done) {
    const measured = await stand.measure(state.value.candidate);
    if (state.value.phase === "decide") decisions++;
    else trials++;
    state = steps.next({ outcome: "measured", measured, elapsedMs: performance.now() - startedMs });
  }
  const best = state.value.trials[state.value.best ?? -1];
  if (best === undefined) throw new Error("the search found nothing");
  return { best: best.candidate, trials, decisions, spentMs: performance.now() - startedMs };
}
