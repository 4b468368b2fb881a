import { expect, test } from "vitest";
import { chooseProbe, probeStepMs } from "../../../../src/gpu-runner/watch/probe-loop.ts";

const INTERVAL_MS = 10_000;
const always = () => true;

/** Names of the probes in this many steps, of placements on these devices. */
function play(devices: Record<string, string>, steps: number, hasTime: (deviceKey: string, step: number) => boolean) {
  const targets = Object.entries(devices).map(([name, deviceKey]) => ({ name, deviceKey, probedAtMs: -Infinity }));
  const stepMs = probeStepMs(INTERVAL_MS, targets.length);
  return Array.from({ length: steps }, (_, step) => {
    // Timers are never on time.
    const nowMs = (step + (step % 2) / 4) * stepMs;
    const target = chooseProbe(targets, INTERVAL_MS, nowMs, (deviceKey) => hasTime(deviceKey, step));
    if (target !== undefined) target.probedAtMs = nowMs;
    return target?.name ?? null;
  });
}

test("each placement comes five times in an interval, evenly between the others", () => {
  expect(play({ a: "cpu", b: "cpu", c: "gpu0" }, 15, always)).toEqual(
    Array.from({ length: 5 }, () => ["a", "b", "c"]).flat(),
  );
  expect(play({ a: "cpu" }, 5, always)).toEqual(["a", "a", "a", "a", "a"]);
});

test("a device without time is left out, and the others are not probed more often for it", () => {
  expect(play({ a: "cpu", b: "gpu0" }, 6, (deviceKey) => deviceKey !== "gpu0")).toEqual([
    "a",
    null,
    "a",
    null,
    "a",
    null,
  ]);
});

test("where time is short, placements of a device take turns, whenever it comes", () => {
  const seldom = (_: string, step: number) => step % 20 === 0;
  expect(play({ a: "cpu", b: "cpu" }, 80, seldom).filter((name) => name !== null)).toEqual(["a", "b", "a", "b"]);
});

test("nothing is probed where nothing is placed", () => {
  expect(probeStepMs(INTERVAL_MS, 0)).toBe(2_000);
  expect(chooseProbe([], INTERVAL_MS, 0, always)).toBeUndefined();
});
