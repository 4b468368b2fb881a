import { expect, test } from "vitest";
import { attributeLosses, LOSSES } from "../../../../bench/goodput/attribute-losses.ts";
import { boundGoodput, knowRequests } from "../../../../bench/goodput/bound-goodput.ts";
import { POLICIES, type PolicyName } from "../../../../bench/goodput/policies.ts";
import { scoreRound } from "../../../../bench/goodput/score-round.ts";
import { interpolate } from "../../../../bench/goodput/service-times.ts";
import { simulateQueue } from "../../../../bench/goodput/simulate-queue.ts";
import { createTrace, TRACE_SHAPES, type TraceShape } from "../../../../bench/goodput/trace.ts";

const TIMES = {
  policy: interpolate([
    [1, 0.3],
    [64, 0.65],
  ]),
  vision: interpolate([
    [1, 10.8],
    [2, 19.6],
    [64, 576],
  ]),
};
const CAPACITY = 178;
const NOISE = { spread: 0.08, stalls: 0.007, slowness: 1.4 };

async function play(
  load: number,
  { policy = "runner-alone", seed = 7, shape }: { policy?: PolicyName; seed?: number; shape?: TraceShape } = {},
) {
  const traces = [createTrace(load * CAPACITY, 1, shape), createTrace(load * CAPACITY, seed, shape)] as const;
  const [, played] = await simulateQueue(POLICIES[policy], traces, TIMES, NOISE, seed);
  return { trace: traces[1], ...played!, score: scoreRound(traces[1], played!.outcomes) };
}

test("the same seed gives the same outcomes", async () => {
  const [one, other] = [await play(1), await play(1)];
  expect(one.outcomes).toEqual(other.outcomes);
  expect((await play(1, { seed: 8 })).batches).not.toEqual(one.batches);
});

test("more load never makes the scheduler answer less, nor break its promises", async () => {
  for (const policy of ["runner-alone", "runner-patient"] as const) {
    const before = (await play(1, { policy })).score.goodput;
    for (const load of [2, 4]) {
      const { score } = await play(load, { policy });
      expect(score.goodput).toBeGreaterThan(0.85 * before);
      expect(score["in budget of admitted"]).toBeGreaterThan(98);
    }
  }
});

test("every loss against the bound has a reason", async () => {
  const { trace, outcomes, batches, score } = await play(2);
  const losses = attributeLosses(trace, outcomes, batches, TIMES);
  const lost = LOSSES.reduce((sum, loss) => sum + losses[loss], 0);
  const bound = boundGoodput(knowRequests(trace), TIMES);
  expect(lost).toBeCloseTo(bound - (score.goodput * trace.durationMs) / 1e3);
});

test("a refusal has the reason that its batch gives", () => {
  const refused = { status: 503, latencyMs: 1, lagMs: 0 };
  const reasonOf = (model: "policy" | "vision", budgetMs: number, batches: Parameters<typeof attributeLosses>[2]) => {
    const trace = {
      arrivalsMs: Float64Array.of(10),
      requests: [{ model, budgetMs, row: 0, rows: 1 }],
      durationMs: 100,
    };
    const losses = attributeLosses(trace, [refused], batches, TIMES);
    return LOSSES.filter((loss) => losses[loss] > 0);
  };
  const batch = (model: "policy" | "vision", rows: number, startedMs: number, endedMs: number) => {
    return { model, rows, startedMs, endedMs };
  };
  expect(reasonOf("policy", 5, [])).toEqual(["refused though it fitted"]);
  expect(reasonOf("policy", 5, [batch("vision", 1, 9, 20)])).toEqual(["long network in the way"]);
  expect(reasonOf("policy", 12, [batch("vision", 4, 9, 45)])).toEqual(["batch too large"]);
  expect(reasonOf("vision", 20, [batch("vision", 1, 9, 20)])).toEqual(["own batch in the way"]);
  expect(reasonOf("vision", 20, [batch("policy", 1, 9, 11), batch("policy", 1, 19, 29)])).toEqual([
    "another model first",
  ]);
  expect(reasonOf("vision", 20, [batch("policy", 1, 9, 11), batch("vision", 1, 11, 25)])).toEqual(["device full"]);
  expect(reasonOf("vision", 30, [batch("policy", 1, 9, 11), batch("vision", 1, 11, 22)])).toEqual([
    "refused though it fitted",
  ]);
});

test.each(Object.keys(TRACE_SHAPES) as TraceShape[])("a trace that is %s keeps its mean rate of rows", (shape) => {
  const traces = Array.from({ length: 20 }, (_, seed) => createTrace(400, seed, shape));
  const rows = traces.flatMap(({ requests }) => requests.map((request) => request.rows));
  const sum = rows.reduce((total, each) => total + each, 0);
  expect(sum / (20 * 3 * 400)).toBeCloseTo(1, 1);
  expect(Math.max(...rows)).toBe(shape === "heavy-tailed" ? 8 : 1);
  for (const { arrivalsMs, durationMs } of traces) {
    expect(arrivalsMs).toEqual(arrivalsMs.toSorted());
    expect(arrivalsMs.at(-1)!).toBeLessThan(durationMs);
  }
});

test("arrivals come and go as their shape says", () => {
  const countBy = (shape: TraceShape) => {
    const counts = Array.from({ length: 30 }, () => 0);
    for (const atMs of createTrace(1_000, 3, shape).arrivalsMs) counts[Math.floor(atMs / 100)]!++;
    return counts;
  };
  expect(countBy("on and off").filter((count) => count === 0).length).toBeGreaterThan(3);
  const crowd = countBy("flash crowd");
  expect(crowd.indexOf(Math.max(...crowd))).toBeGreaterThanOrEqual(18);
  expect(crowd.indexOf(Math.max(...crowd))).toBeLessThan(21);
  expect(crowd[0]!).toBeLessThan(0.6 * crowd[14]!);
});

test("schedulers answer requests of many rows of both models, in batches of no more than they join", async () => {
  for (const policy of ["runner-alone", "clipper-aimd", "bentoml", "fifo-timeouts"] as const) {
    const { trace, outcomes } = await play(0.5, { policy, shape: "heavy-tailed" });
    for (const model of ["policy", "vision"] as const) {
      const large = trace.requests.flatMap((request, index) =>
        request.rows > 1 && request.model === model ? [outcomes[index]!.status] : [],
      );
      expect(large).toContain(200);
    }
    const { batches } = await play(40, { policy, shape: "heavy-tailed" });
    const rows = batches.map((batch) => batch.rows);
    expect(Math.max(...rows)).toBeLessThanOrEqual(64);
    expect(Math.max(...rows)).toBeGreaterThan(policy === "fifo-timeouts" ? 7 : 32);
  }
});
