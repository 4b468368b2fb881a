import { expect, it } from "vitest";
import { runChaos } from "../chaos/run-chaos.ts";

/** What `npm run chaos` does for minutes, shortened: this seed kills, stops and fills the disks of edge and runners. */
it("keeps what it accepted while its parts fail", async () => {
  const { ledger, violations } = await runChaos({
    seed: 24,
    durationMs: 12_000,
    runners: 2,
    inferencesPerSecond: 5,
    meanGapMs: 1_500,
    // A slow machine takes several times as long for everything that a deadline does not end.
    slackMs: 3_000,
    say: () => {},
  });
  expect(violations).toEqual([]);
  // It must have been put to the test.
  expect(ledger.faults.length).toBeGreaterThan(5);
  expect(new Set(ledger.offers.map(({ runner }) => runner))).toEqual(new Set(["runner-0", "runner-1"]));
  expect(ledger.inferences.some(({ answer }) => answer === "ok")).toBe(true);
  expect(ledger.reports.some(({ runId }) => runId !== null)).toBe(true);
  expect(ledger.jobs.some(({ succeededMs }) => succeededMs !== null)).toBe(true);
}, 1_200_000);
