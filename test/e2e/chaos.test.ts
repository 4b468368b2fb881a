import { expect, it } from "vitest";
import { runChaos } from "../chaos/run-chaos.ts";

/** What `npm run chaos` does for minutes: here so short that it fits, and with a seed that has most kinds of faults. */
it("keeps what it accepted while its parts fail", async () => {
  const { ledger, violations } = await runChaos({
    seed: 3,
    durationMs: 15_000,
    runners: 2,
    inferencesPerSecond: 5,
    meanGapMs: 2_000,
    say: () => {},
  });
  expect(violations).toEqual([]);
  // It must have been put to the test.
  expect(ledger.faults.length).toBeGreaterThan(5);
  expect(ledger.inferences.some(({ answer }) => answer === "ok")).toBe(true);
  expect(ledger.reports.some(({ runId }) => runId !== null)).toBe(true);
  expect(ledger.jobs.some(({ succeededMs }) => succeededMs !== null)).toBe(true);
}, 600_000);
