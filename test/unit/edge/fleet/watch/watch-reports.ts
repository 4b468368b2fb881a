import type { Expectation } from "../../../../../src/edge/fleet/watch/expectation.ts";
import { judgeHealth } from "../../../../../src/edge/fleet/watch/judge-health.ts";
import { addMemorySample, type MemorySample } from "../../../../../src/edge/fleet/watch/memory-sample.ts";
import type { OpenFinding } from "../../../../../src/edge/fleet/watch/watch-rule.ts";
import type { HealthReport } from "../../../../../src/protocol/fleet/health.ts";
import { expectation, placement, report } from "../../../../edge/stack/health-samples.ts";

const RUNNER = "rnr_01jzzzzzzzzzzzzzzzzzzzzzzz";

/** Judges reports one after the other; returns the open findings after each. */
export function watch(
  reports: readonly HealthReport[],
  expectations: readonly Expectation[] = [expectation],
): (readonly OpenFinding[])[] {
  let open: readonly OpenFinding[] = [];
  let memory: readonly MemorySample[] = [];
  return reports.map((latest, index) => {
    memory = addMemorySample(memory, latest);
    const kept = reports.slice(Math.max(0, index - 59), index + 1);
    open = judgeHealth(RUNNER, { expectations, reports: kept, memory, open });
    return open;
  });
}

/** The kinds that were open after each report. */
export function kindsOf(found: readonly (readonly OpenFinding[])[]): string[] {
  return found.map((open) => open.map(({ finding }) => finding.kind).join(" "));
}

/** Findings for a backend that begins to sleep. */
export function plant(): readonly OpenFinding[] {
  const slow = { placements: [placement([20, 22, 21, 25, 19])] };
  return watch([0, 1, 2].map((index) => report(index, slow))).at(-1) ?? [];
}
