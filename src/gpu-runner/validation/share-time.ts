import { leastMsOf, type Scenario } from "../../protocol/scenario.ts";

/** A scenario warms up first, and its last answers take their time. */
const AROUND_MS = 1_000;

/**
 * When the first of these scenarios has to be over, so that each of the others still has the time that it takes at
 * least. What is to spare is shared by those that search; the others end by themselves, and may take all of it.
 */
export function shareTime(scenarios: readonly Scenario[], nowMs: number, endMs: number): number {
  const [first, ...later] = scenarios;
  if (first === undefined) return endMs;
  const wantedMs = (scenario: Scenario) => leastMsOf(scenario) + AROUND_MS;
  const laterMs = later.reduce((sum, scenario) => sum + wantedMs(scenario), 0);
  const spareMs = endMs - nowMs - laterMs - wantedMs(first);
  if (spareMs <= 0) return Math.min(endMs, nowMs + wantedMs(first));
  const searches = scenarios.filter(isSearch).length;
  return nowMs + wantedMs(first) + (isSearch(first) ? spareMs / searches : spareMs);
}

/** Whether a scenario goes on for as long as it may, and has a result whenever it ends. */
export function isSearch(scenario: Scenario): boolean {
  return scenario.kind === "server" && scenario.ratePerS === undefined;
}
