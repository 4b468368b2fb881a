import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadCommand } from "../../../src/cli/load/load-command.ts";
import { burstArrivals, poissonArrivals, readArrivals } from "../../../src/cli/load/arrivals.ts";
import { LiveLine, reportLoad } from "../../../src/cli/load/load-report.ts";
import { type LoadOutcome, runOpenLoop } from "../../../src/cli/load/open-loop.ts";
import { createTestShell } from "./test-shell.ts";

const plan = { ratePerSecond: 200, durationMs: 60_000, seed: 3 };
const isRising = (times: Float64Array) => times.every((at, index) => index === 0 || at >= times[index - 1]!);

/** Variance over mean of the counts in windows: 1 for a Poisson process, more for bursts. */
function dispersion(times: Float64Array, windowMs: number): number {
  const counts = Array.from({ length: Math.floor(plan.durationMs / windowMs) }, () => 0);
  for (const at of times) counts[Math.floor(at / windowMs)]!++;
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length / mean;
}

describe("arrivals", () => {
  it("of a Poisson process have its rate and its dispersion, and are those of their seed", () => {
    const times = poissonArrivals(plan);
    expect(isRising(times)).toBe(true);
    expect(times.at(-1)).toBeLessThan(plan.durationMs);
    // Five standard deviations of the count.
    expect(Math.abs(times.length - 12_000)).toBeLessThan(5 * Math.sqrt(12_000));
    expect(dispersion(times, 400)).toBeGreaterThan(0.6);
    expect(dispersion(times, 400)).toBeLessThan(1.5);
    expect(poissonArrivals(plan)).toEqual(times);
    expect(poissonArrivals({ ...plan, seed: 4 })).not.toEqual(times);
  });

  it("in bursts keep the mean rate, five times as dense a fifth of the time", () => {
    const times = burstArrivals(plan);
    expect(isRising(times)).toBe(true);
    expect(Math.abs(times.length - 12_000)).toBeLessThan(5 * Math.sqrt(12_000));
    const inBurst = times.filter((at) => at % 2_000 < 400).length;
    const density = inBurst / 400 / ((times.length - inBurst) / 1_600);
    expect(density).toBeGreaterThan(4.5);
    expect(density).toBeLessThan(5.5);
    expect(dispersion(times, 400)).toBeGreaterThan(10);
  });

  it("that were recorded are read as they stand, and a wrong line is named", () => {
    expect([...readArrivals("0\n1.5\n\n7\n")]).toEqual([0, 1.5, 7]);
    expect(() => readArrivals("0\n5\n4\n")).toThrow("line 3");
    expect(() => readArrivals("soon\n")).toThrow("line 1");
    for (const text of ["", "0\n0\n"]) expect(() => readArrivals(text)).toThrow("an arrival after the first moment");
  });
});

describe("an open loop", () => {
  it("sends at every arrival though nothing is answered, and counts from the scheduled arrival", async () => {
    const release = Promise.withResolvers<void>();
    const outcomes: LoadOutcome[] = [];
    let sent = 0;
    const send = async () => {
      sent++;
      if (sent === 5) release.resolve();
      await release.promise;
      return "ok";
    };
    const arrivals = Float64Array.of(0, 5, 10, 15, 40);
    await runOpenLoop(arrivals, send, (outcome) => outcomes.push(outcome), new AbortController().signal);
    expect(outcomes).toHaveLength(5);
    // All are answered at the last arrival, so the first has waited longest.
    const latencies = outcomes.map(({ latencyMs }) => latencyMs);
    expect(latencies[0]).toBeGreaterThan(latencies[4]!);
    for (const { lagMs } of outcomes) expect(lagMs).toBeGreaterThanOrEqual(0);
  });

  it("that is ended sends no more, and waits for what is under way", async () => {
    const stopping = new AbortController();
    const outcomes: LoadOutcome[] = [];
    const send = async () => {
      stopping.abort();
      return "ok";
    };
    await runOpenLoop(Float64Array.of(0, 60_000), send, (outcome) => outcomes.push(outcome), stopping.signal);
    expect(outcomes).toHaveLength(1);
  });

  it("goes on where a request rejects, and throws the first reason at its end", async () => {
    const results: string[] = [];
    const send = async (index: number) => {
      if (index === 2) return "ok";
      throw new Error(`request ${index}`);
    };
    const arrivals = Float64Array.of(0, 5, 10);
    const load = runOpenLoop(arrivals, send, ({ result }) => results.push(result), new AbortController().signal);
    await expect(load).rejects.toThrow("request 0");
    expect(results).toEqual(["ok"]);
  });
});

describe("a report", () => {
  const outcome = (result: string, latencyMs: number): LoadOutcome => ({ result, latencyMs, lagMs: 0.5 });

  it("reports goodput, results and the latency of the answers", () => {
    const outcomes = [outcome("ok", 10), outcome("ok", 20), outcome("late", 90), outcome("overloaded", 1)];
    expect(reportLoad(outcomes, 2_000)).toMatchObject({
      requests: 4,
      offeredPerSecond: 2,
      goodputPerSecond: 1,
      results: { ok: 2, late: 1, overloaded: 1 },
      inBudgetShare: 2 / 3,
      latencyMs: { p50: 20, max: 90 },
      lagMs: { p99: 0.5 },
    });
  });

  it("of nothing answered has no latency", () => {
    expect(reportLoad([outcome("unreachable", 3)], 1_000)).toMatchObject({ inBudgetShare: null, latencyMs: null });
  });
});

describe("the live line", () => {
  const outcome = (result: string, latencyMs: number): LoadOutcome => ({ result, latencyMs, lagMs: 0 });

  it("reports the load's progress, its last second and every end so far", () => {
    const line = new LiveLine(50, 1_000);
    for (let i = 0; i < 5; i++) line.noteSent();
    line.noteEnded(outcome("ok", 700), 2_000);
    line.noteEnded(outcome("overloaded", 1), 3_100);
    line.noteEnded(outcome("ok", 12), 3_200);
    line.noteEnded(outcome("ok", 14), 3_300);
    expect(line.render(3_500, 200)).toBe(
      "2.5 s · 5/50 sent, 1 waiting · now 2/s in budget · p99 14.0 ms · ok 3, overloaded 1",
    );
    expect(line.render(9_000, 200)).toBe("8.0 s · 5/50 sent, 1 waiting · now 0/s in budget · ok 3, overloaded 1");
    expect(line.render(9_000, 12)).toBe("8.0 s · 5/50");
  });

  it("holds no more than its last second, though nobody looks", () => {
    const line = new LiveLine(2, 0);
    line.noteEnded(outcome("ok", 1), 2_000);
    line.noteEnded(outcome("ok", 1), 9_000);
    // Reading again would show the remaining objects.
    expect(line.render(2_500, 200)).toContain("now 1/s");
  });
});

describe("the command", () => {
  const parse = (...options: string[]) =>
    loadCommand(createTestShell())
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(["--model", "m", "--edge", "http://127.0.0.1:1", ...options], { from: "user" });

  it.each([
    ["--seed", "1.5", "must be a whole number"],
    ["--seed", "4294967296", "must be a number from 0 to 4294967295"],
    ["--rate", "", "must be a number from 0.01"],
    ["--budget", "soon", "must be a number from"],
    ["--confidence", "1", "must be a number from 0.5 to 0.999"],
    ["--refuse-within", "-1", "must be a number from 0 to"],
    ["--arrivals", "daily", "Allowed choices are poisson, bursts"],
  ])("refuses %s %s", async (option, value, reason) => {
    await expect(parse(option, value)).rejects.toThrow(reason);
  });

  it("refuses patience of a direct load, which has none", async () => {
    await expect(parse("--direct", "--refuse-within", "5")).rejects.toThrow("--direct or --refuse-within");
  });

  it("plans no more requests than it may hold, and names the options", async () => {
    const reason = "--rate times --duration may be at most 5000000";
    await expect(parse("--rate", "100000", "--duration", "50.001")).rejects.toThrow(reason);
    const folder = await mkdtemp(join(tmpdir(), "millrace-load-"));
    try {
      const trace = join(folder, "trace");
      await writeFile(trace, "1\n".repeat(5_000_001));
      await expect(parse("--trace", trace)).rejects.toThrow("--trace may hold at most 5000000");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
