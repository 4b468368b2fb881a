import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ProbeTimes, WatchedPlacement } from "../../../../src/gpu-runner/watch/prepare-probe.ts";
import { ProbeLoop } from "../../../../src/gpu-runner/watch/probe-loop.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

const INTERVAL_MS = 1_000;

interface Asked {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly answer: (serviceMs: number, computeMs?: number) => void;
  readonly fail: (error: unknown) => void;
}

/** A loop over placements on these devices, whose probes the test answers; `prepare` comes before each. */
function playLoop(devices: Record<string, string>, prepare: () => Promise<void> = async () => {}) {
  const asked: Asked[] = [];
  const placements = Object.entries(devices).map(
    ([key, deviceKey]) => [key, { deviceKey, variant: key }] as unknown as [string, WatchedPlacement],
  );
  const loop = new ProbeLoop({
    placements: { all: () => placements },
    now: () => Date.now(),
    prepare: async ({ variant: key }) => {
      await prepare();
      return (signal) =>
        new Promise<ProbeTimes>((resolve, reject) => {
          const answer = (serviceMs: number, computeMs = serviceMs / 2) => resolve({ serviceMs, computeMs });
          asked.push({ key, signal, answer, fail: reject });
        });
    },
  });
  return { loop, asked };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the loop of probes", () => {
  it("asks each placement in turn, and reports the results since the last question", async () => {
    const { loop, asked } = playLoop({ a: "cpu", b: "cpu" });
    loop.start(INTERVAL_MS);
    await pass(100);
    asked[0]?.answer(4);
    await pass(100);
    asked[1]?.fail(new ProblemError("backend-failed", "broken"));
    await pass(100);
    expect(asked.map(({ key }) => key)).toEqual(["a", "b", "a"]);
    const none = { probes: 0, errors: 0, serviceMs: [], computeMs: [] };
    expect(Object.fromEntries(loop.cut())).toEqual({
      a: { ...none, probes: 1, serviceMs: [4], computeMs: [2] },
      b: { ...none, probes: 1, errors: 1 },
    });
    expect(loop.cut().size).toBe(0);
    loop.stop();
    await pass(INTERVAL_MS);
    expect(asked).toHaveLength(3);
  });

  it("asks nothing of a device that has not answered yet, and goes on with the others", async () => {
    const { loop, asked } = playLoop({ a: "cpu", b: "cpu", c: "gpu0" });
    loop.start(INTERVAL_MS);
    await pass(INTERVAL_MS);
    expect(asked.map(({ key }) => key)).toEqual(["a", "c"]);
    loop.stop();
  });

  it("counts nothing where the device had something better to do", async () => {
    const { loop, asked } = playLoop({ a: "cpu" });
    loop.start(INTERVAL_MS);
    for (const code of ["overloaded", "budget-exceeded", "cancelled"] as const) {
      await pass(INTERVAL_MS / 5);
      asked.at(-1)?.fail(new ProblemError(code, "not now"));
    }
    await pass(1);
    expect(asked).toHaveLength(3);
    expect(loop.cut().size).toBe(0);
    loop.stop();
  });

  it("counts a placement that cannot be made ready as an error, and asks it again at its next turn", async () => {
    const { loop, asked } = playLoop({ a: "cpu" }, () => Promise.reject(new ProblemError("invalid-model", "broken")));
    loop.start(INTERVAL_MS);
    await pass(INTERVAL_MS);
    expect(asked).toEqual([]);
    expect(loop.cut().get("a")).toMatchObject({ probes: 5, errors: 5 });
    loop.stop();
  });

  it.each(["answers", "fails"])("asks a device seldom that %s slowly", async (how) => {
    const { loop, asked } = playLoop({ a: "cpu" });
    loop.start(INTERVAL_MS);
    await pass(INTERVAL_MS / 5);
    if (how === "fails") await pass(3_000);
    if (how === "fails") asked[0]?.fail(new ProblemError("backend-failed", "broken"));
    else asked[0]?.answer(3_000, 3_000);
    // Two seconds of debt are a hundredth of 200 seconds.
    await pass(199_000);
    expect(asked).toHaveLength(1);
    await pass(2_000);
    expect(asked).toHaveLength(2);
    loop.stop();
  });
});

it("a device that was lost owes nothing for the time in which it was started again", async () => {
  const { loop, asked } = playLoop({ a: "cpu" });
  loop.start(INTERVAL_MS);
  await pass(INTERVAL_MS / 5 + 3_000);
  asked[0]?.fail(new ProblemError("device-lost", "killed"));
  await pass(INTERVAL_MS / 5);
  expect(asked).toHaveLength(2);
  loop.stop();
});

it("a device that is down owes nothing for the probes that found it so", async () => {
  let isDown = true;
  const { loop, asked } = playLoop({ a: "cpu" }, async () => {
    if (isDown) throw new ProblemError("device-lost", "started again");
  });
  loop.start(INTERVAL_MS);
  await pass(30 * INTERVAL_MS);
  expect(asked).toEqual([]);
  isDown = false;
  await pass(INTERVAL_MS / 5);
  expect(asked).toHaveLength(1);
  loop.stop();
});

it("an answer that waited for a restart owes what the device computed", async () => {
  const { loop, asked } = playLoop({ a: "cpu" });
  loop.start(INTERVAL_MS);
  await pass(INTERVAL_MS / 5);
  asked[0]?.answer(3_000, 1);
  await pass(INTERVAL_MS / 5);
  expect(asked).toHaveLength(2);
  loop.stop();
});

it("a device that every probe ends is asked seldom", async () => {
  const { loop, asked } = playLoop({ a: "cpu" });
  loop.start(INTERVAL_MS);
  for (let round = 0; round < 600; round++) {
    await pass(INTERVAL_MS / 5);
    asked.at(-1)?.fail(new ProblemError("device-lost", "crashed"));
  }
  // A second is saved up for ten, and two minutes earn twelve more.
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.length).toBeLessThan(25);
  loop.stop();
});

describe("while jobs run", () => {
  it("nothing is asked, until the last has ended", async () => {
    const { loop, asked } = playLoop({ a: "cpu" });
    loop.start(INTERVAL_MS);
    await loop.pause();
    await loop.pause();
    loop.resume();
    await pass(INTERVAL_MS);
    expect(asked).toEqual([]);
    loop.resume();
    await pass(INTERVAL_MS / 5);
    expect(asked).toHaveLength(1);
    loop.stop();
  });

  it("a probe is withdrawn, and the job waits until none runs", async () => {
    const { loop, asked } = playLoop({ a: "cpu" });
    loop.start(INTERVAL_MS);
    await pass(INTERVAL_MS / 5);
    let isQuiet = false;
    const pausing = loop.pause().then(() => {
      isQuiet = true;
    });
    await pass(0);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(isQuiet).toBe(false);
    asked[0]?.answer(1);
    await pausing;
    loop.stop();
  });

  it("a probe whose model is loaded meanwhile is not begun, and delays no request", async () => {
    const loading = Promise.withResolvers<void>();
    const { loop, asked } = playLoop({ a: "cpu" }, () => loading.promise);
    loop.start(INTERVAL_MS);
    await pass(INTERVAL_MS / 5);
    await loop.pause();
    loading.resolve();
    await pass(INTERVAL_MS);
    expect(asked).toEqual([]);
    loop.stop();
  });
});
