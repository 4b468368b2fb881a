import type { Observed } from "./observe-series.ts";

/**
 * Runs of one series that both sides hold belong to the side with fewer runs, so that the latest one is compared
 * with those before it and never with itself; of sides with as many, to B. A side that keeps none has nothing of
 * its own; of live requests nothing is known but their sum, so overlapping spans leave A with nothing.
 */
export function shareRuns(a: Observed, b: Observed): [a: Observed, b: Observed] {
  if (a.merged !== null && b.merged !== null) {
    const overlap = a.merged.fromMs < b.merged.toMs && b.merged.fromMs < a.merged.toMs;
    return [overlap ? { ...a, merged: null } : a, b];
  }
  const giver = a.runs.length >= b.runs.length ? a : b;
  const keeper = giver === a ? b : a;
  const kept = new Set(keeper.runs.map(({ runId }) => runId));
  const rest = { ...giver, runs: giver.runs.filter(({ runId }) => !kept.has(runId)) };
  return giver === a ? [rest, b] : [a, rest];
}
