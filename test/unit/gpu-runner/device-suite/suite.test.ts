import { expect, it } from "vitest";
import type { Check, Part, SuiteContext } from "../../../../src/gpu-runner/device-suite/check.ts";
import { runSuite, type SuiteOptions, type SuitePart } from "../../../../src/gpu-runner/device-suite/suite.ts";

/** These parts use no device. */
const context = { say: () => {} } as unknown as Omit<SuiteContext, "signal" | "done">;
const LONG_MS = 600_000;

function check(part: string, name: string, outcome: Check["outcome"], reason?: string): Check {
  return { part, name, outcome, durationMs: 1, ...(reason !== undefined && { reason }) };
}

function partOf(name: string, run: Part, share = 1): SuitePart {
  return { name, share, load: async () => run };
}

/** A part that makes checks of these names, which pass; `made` receives each that it makes. */
function passing(name: string, checks: readonly string[], made: string[] = []): SuitePart {
  return partOf(name, async function* pass({ done }) {
    for (const each of checks.filter((one) => !done(one))) {
      made.push(each);
      yield check(name, each, "passed");
    }
  });
}

/** Outcomes by name, of a suite that keeps what it is told. */
async function runParts(parts: readonly SuitePart[], options: Partial<SuiteOptions> = {}) {
  const kept: number[] = [];
  const checks = await runSuite(parts, context, {
    limitMs: LONG_MS,
    keep: async (all) => void kept.push(all.length),
    signal: new AbortController().signal,
    ...options,
  });
  return { kept, checks, told: checks.map(({ part, name, outcome }) => `${part}/${name} ${outcome}`) };
}

it("keeps the report after every check", async () => {
  const { kept, told } = await runParts([passing("a", ["1", "2"]), passing("b", ["1"])]);
  expect(told).toEqual(["a/1 passed", "a/2 passed", "b/1 passed"]);
  expect(kept).toEqual([1, 2, 3]);
});

it("makes only what failed, or was not reached, when it is resumed", async () => {
  const made: string[] = [];
  const earlier = [
    check("a", "right", "passed"),
    check("a", "wrong", "failed", "it was wrong"),
    check("a", "lacking", "skipped", "the device lacks shader-f16"),
    check("a", "the rest", "skipped", "time limit"),
  ];
  const { told } = await runParts([passing("a", ["right", "wrong", "lacking", "new"], made)], { earlier });
  expect(made).toEqual(["wrong", "new"]);
  expect(told).toEqual(["a/right passed", "a/wrong passed", "a/lacking skipped", "a/new passed"]);
});

it("keeps the failures that a resumed suite does not make again", async () => {
  const wrong = check("a", "wrong", "failed", "it was wrong");
  const rest = check("a", "the rest", "failed", "a defect");
  const elsewhere = check("b", "the rest", "skipped", "time limit");
  const earlier = [wrong, rest, elsewhere];
  const wants = (_: string, name: string) => name === "new";
  const selected = await runParts([passing("a", ["wrong", "new"])], { earlier, wants });
  expect(selected.checks).toEqual([...earlier, check("a", "new", "passed")]);
  const late = await runParts([passing("a", ["wrong", "new"])], { earlier, limitMs: 0 });
  expect(late.checks).toEqual(earlier);
  const whole = await runParts([passing("a", ["wrong", "new"])], { earlier });
  expect(whole.told).toEqual(["a/wrong passed", "b/the rest skipped", "a/new passed"]);
});

it("makes only wanted checks", async () => {
  const made: string[] = [];
  await runParts([passing("a", ["1", "2"], made)], { wants: (part, name) => `${part}/${name}` === "a/2" });
  expect(made).toEqual(["2"]);
});

it("skips parts for which there is no time", async () => {
  const made: string[] = [];
  const { checks } = await runParts([passing("a", ["1"], made)], { limitMs: 0 });
  expect(made).toEqual([]);
  expect(checks).toEqual([check("a", "the rest", "skipped", "time limit")].map((each) => ({ ...each, durationMs: 0 })));
});

it("ends a part that is too slow, and leaves the later ones their time", async () => {
  const slow = partOf("slow", async function* wait({ signal }) {
    yield check("slow", "1", "passed");
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    yield check("slow", "2", "failed", "cancelled");
  });
  const { checks, told } = await runParts([{ ...slow, share: 1e-6 }, passing("next", ["1"])]);
  expect(told).toEqual(["slow/1 passed", "slow/the rest skipped", "next/1 passed"]);
  expect(checks[1]?.reason).toBe("time limit");
});

it("gives up a part that does not heed its limit", async () => {
  const hanging = partOf("hanging", async function* hang() {
    await new Promise(() => {});
    yield check("hanging", "1", "passed");
  });
  const { told } = await runParts([{ ...hanging, share: 1e-6 }, passing("next", ["1"])], { graceMs: 1 });
  expect(told).toEqual(["hanging/the rest skipped", "next/1 passed"]);
});

it("goes on after a part that throws, or cannot be loaded", async () => {
  const throwing = partOf("throwing", async function* fail() {
    yield check("throwing", "1", "passed");
    throw new Error("a defect");
  });
  const missing = { name: "missing", share: 1, load: () => Promise.reject(new Error("no such file")) };
  const { checks, told } = await runParts([throwing, missing, passing("next", ["1"])]);
  expect(told).toEqual(["throwing/1 passed", "throwing/the rest failed", "missing/the rest failed", "next/1 passed"]);
  expect(checks[1]?.reason).toContain("a defect");
});

it("ends early on request, and says so", async () => {
  const stopping = new AbortController();
  const endless = partOf("endless", async function* count() {
    for (let index = 0; ; index++) {
      if (index === 3) stopping.abort();
      yield check("endless", String(index), "passed");
    }
  });
  const { checks } = await runParts([endless, passing("next", ["1"])], { signal: stopping.signal });
  expect(checks.filter(({ outcome }) => outcome === "skipped").map(({ part, reason }) => [part, reason])).toEqual([
    ["endless", "stopped"],
    ["next", "stopped"],
  ]);
});
