import { expect, test } from "vitest";
import { earnCredit, fullCredit, spendCredit } from "../../../../src/gpu-runner/watch/probe-loop.ts";

/** Milliseconds of probes on a device that is asked for one at every step as long as there is credit. */
function spentMs(probeMs: number, spanMs: number, stepMs: number): number {
  let credit = fullCredit(0);
  let sumMs = 0;
  for (let nowMs = 0; nowMs < spanMs; nowMs += stepMs) {
    credit = earnCredit(credit, nowMs);
    if (credit.ms <= 0) continue;
    credit = spendCredit(credit, probeMs);
    sumMs += probeMs;
  }
  return sumMs;
}

test("in the long run probes take a hundredth of a device, and a second more at most", () => {
  const hourMs = 3_600_000;
  for (const probeMs of [50, 200, 5_000, 60_000]) {
    const spent = spentMs(probeMs, hourMs, 100);
    expect(spent).toBeLessThanOrEqual(0.01 * hourMs + 1_000 + probeMs);
    expect(spent).toBeGreaterThanOrEqual(0.01 * hourMs);
  }
});

test("quick models are probed whenever it is their turn", () => {
  expect(spentMs(0.5, 60_000, 100)).toBe(300);
});

test("unused credit grows no further than a second", () => {
  expect(earnCredit(fullCredit(0), 3_600_000).ms).toBe(1_000);
});
