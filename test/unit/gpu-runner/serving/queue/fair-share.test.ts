import { assert, describe, expect, it } from "vitest";
import { SimClock } from "../../../../../bench/simulate/sim-clock.ts";
import { exponential, uniformStream } from "../../../../../bench/simulate/uniform-stream.ts";
import { FairShare } from "../../../../../src/gpu-runner/serving/queue/fair-share.ts";
import { InferenceServer, type ServerRequest } from "../../../../../src/gpu-runner/serving/queue/inference-server.ts";
import { judgeArrival } from "../../../../../src/gpu-runner/serving/queue/judge-arrival.ts";
import { planBatch, type Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { byUrgency } from "../../../../../src/gpu-runner/serving/queue/urgency.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";
import { fc } from "../../../property.ts";
import { idsOf, scriptLine, scriptRequest } from "./scripted-line.ts";

const lineOf = (tenant: number, times: Parameters<typeof scriptLine>[0] = {}) => ({ ...scriptLine(times), tenant });
/** Each request of it takes 8 ms by itself. */
const slow = { fixedMs: 8, rowMs: 0, maxRows: 1, joins: false };
const many = (count: number, tenant: number, deadlineMs: number, changes: Partial<Waiting> = {}) =>
  Array.from({ length: count }, (_, index) =>
    scriptRequest(lineOf(tenant, slow), `${tenant}-${index}`, deadlineMs + index, changes),
  );

describe("turns", () => {
  it("leave one tenant's requests in the order of their urgency", () => {
    const order = [...many(3, 1, 90), ...many(3, 1, 60, { priority: 4 })].toSorted(byUrgency);
    expect(new FairShare().arrange(order).order).toEqual(order);
  });

  it("serve two tenants one after the other, whatever their deadlines and priorities", () => {
    const order = [...many(6, 1, 50, { priority: 9 }), ...many(3, 2, 500)].toSorted(byUrgency);
    const served = idsOf(new FairShare().arrange(order).order);
    expect(served.slice(0, 6).filter((id) => id.startsWith("2"))).toHaveLength(3);
    expect(served.slice(6)).toEqual(["1-3", "1-4", "1-5"]);
  });

  it("let the deadlines of all decide within a turn", () => {
    const quick = { fixedMs: 0.5, rowMs: 0 };
    const order = [60, 20, 40].map((deadlineMs, tenant) =>
      scriptRequest(lineOf(tenant, quick), `${tenant}`, deadlineMs, { priority: tenant === 0 ? 9 : 0 }),
    );
    expect(idsOf(new FairShare().arrange(order.toSorted(byUrgency)).order)).toEqual(["1", "2", "0"]);
  });

  it("put a tenant behind that has used more of the device while others waited", () => {
    const fair = new FairShare();
    const waiting = [...many(2, 1, 50), ...many(2, 2, 500)].toSorted(byUrgency);
    fair.charge(1, 100, waiting);
    expect(idsOf(fair.arrange(waiting).order)).toEqual(["2-0", "2-1", "1-0", "1-1"]);
  });

  it("owe a tenant that was away no more than a credit", () => {
    const fair = new FairShare();
    fair.charge(1, 10_000, many(2, 1, 500));
    const waiting = [...many(12, 1, 500), ...many(12, 2, 900)].toSorted(byUrgency);
    const served = idsOf(fair.arrange(waiting).order);
    // Fifty milliseconds of it, and a turn.
    expect(served.slice(0, 7).every((id) => id.startsWith("2"))).toBe(true);
    expect(served.slice(7, 15).filter((id) => id.startsWith("1")).length).toBeGreaterThanOrEqual(4);
  });

  it("put probes last, which are nobody's", () => {
    const probe = scriptRequest(scriptLine(slow), "probe", 1, { priority: -1 });
    const fair = new FairShare();
    expect(fair.arrange([...many(2, 1, 50), probe]).order.at(-1)).toBe(probe);
    const { order, turnOf } = fair.arrange([...many(2, 1, 50), ...many(2, 2, 50), probe]);
    expect(order.at(-1)).toBe(probe);
    expect(turnOf(probe)).toBe(Infinity);
  });

  it("lose and double none, and keep each tenant's own order", () => {
    const work = fc.record({
      tenant: fc.integer({ min: 1, max: 4 }),
      deadlineMs: fc.integer({ min: 1, max: 200 }),
      priority: fc.integer({ min: -1, max: 9 }),
      fixedMs: fc.integer({ min: 0, max: 30 }),
    });
    const check = (drawn: { tenant: number; deadlineMs: number; priority: number; fixedMs: number }[]) => {
      const order = drawn
        .map(({ tenant, deadlineMs, priority, fixedMs }, index) =>
          scriptRequest(lineOf(tenant, { fixedMs }), `${index}`, deadlineMs, { priority }),
        )
        .toSorted(byUrgency);
      const fair = new FairShare();
      fair.charge(1, 25, order);
      const { order: served, turnOf } = fair.arrange(order);
      expect(served.toSorted(byUrgency)).toEqual(order);
      for (const tenant of [1, 2, 3, 4]) {
        const isOwn = ({ line }: Waiting) => line.tenant === tenant;
        expect(idsOf(served.filter(isOwn))).toEqual(idsOf(order.filter(isOwn)));
      }
      const turns = served.map(turnOf);
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    };
    fc.assert(fc.property(fc.array(work, { maxLength: 40 }), check));
  });
});

describe("a newcomer", () => {
  const fair = new FairShare();
  const judge = (order: readonly Waiting[], newcomer: Waiting) =>
    judgeArrival(order.toSorted(byUrgency), newcomer, 0, null, { arrange: (each) => fair.arrange(each) });

  it("takes its turn from a tenant that fills the device, of however high a priority", () => {
    const flood = many(10, 1, 76, { priority: 9 });
    const verdict = judge(flood, scriptRequest(lineOf(2, slow), "b", 30));
    assert(verdict.kind === "admitted");
    expect(verdict.pushedOut.length).toBeGreaterThan(0);
    expect(idsOf(verdict.order).includes("b")).toBe(true);
  });

  it("takes nothing from a tenant that has asked for no more than it", () => {
    const verdict = judge(many(1, 1, 9), scriptRequest(lineOf(2, slow), "b", 9));
    expect(verdict.kind).toBe("overloaded");
  });

  it("takes a place of a queue that another tenant filled with requests that cost nothing", () => {
    const quick = lineOf(1, { fixedMs: 0.001, rowMs: 0 });
    const full = Array.from({ length: LIMITS.deviceQueueRequests }, (_, index) =>
      scriptRequest(quick, `a${index}`, 9_000, { priority: 9 }),
    );
    expect(judge(full, scriptRequest(lineOf(2, slow), "b", 9_000))).toMatchObject({
      kind: "admitted",
      pushedOut: [{ line: { tenant: 1 } }],
    });
    expect(judge(full, scriptRequest(quick, "c", 9_000, { priority: 9 })).kind).toBe("overloaded");
  });
});

it("expects of the queue no more than what goes before a tenant's next request", () => {
  const fair = new FairShare();
  const flood = many(10, 1, 900);
  const { backlogMs } = planBatch(flood, 0, undefined, (order) => fair.arrange(order));
  expect(backlogMs(1)).toBe(80);
  // The batch that begins now is not interrupted, and a tenant that was away has its credit.
  fair.charge(1, 500, flood);
  expect(planBatch(flood, 0, undefined, (order) => fair.arrange(order)).backlogMs(2)).toBe(8);
  const even = new FairShare();
  const mixed = [...flood, ...many(1, 2, 900)].toSorted(byUrgency);
  const shared = planBatch(mixed, 0, undefined, (order) => even.arrange(order));
  expect(shared.backlogMs(1)).toBe(88);
  expect(shared.backlogMs(2)).toBeLessThan(40);
});

// The largest are tens of thousands of requests, ten seconds of computing.
describe("another tenant's attack", { timeout: 300_000 }, () => {
  const END_MS = 3_000;
  const VICTIM = { everyMs: 10, budgetMs: 40 };
  const rowOf = (width: number): Tensor[] => [
    { name: "x", dtype: "float32", shape: [1, width], bytes: new Uint8Array(4 * width) },
  ];
  /** Device time of a request by its model; the victim needs four tenths of the device, beside five others a tenth. */
  const DURATIONS_MS: Readonly<Record<string, number>> = { victim: 4, cheap: 0.3, long: 12 };

  type Attack = Partial<ServerRequest> & { everyMs: number; budgetMs: number; widths?: number };

  /** Share of the victim's requests that are answered in time, from the second second on. */
  async function play(
    { everyMs, widths = 1, ...request }: Attack,
    attackerTenant: number,
    attackers = 1,
  ): Promise<number> {
    const clock = new SimClock();
    const infer = async (modelKey: string) => {
      await clock.delay(DURATIONS_MS[modelKey.split("/")[0]!]!);
      return { tensors: rowOf(1), times: { uploadMs: 0, computeMs: 1, readbackMs: 0 } };
    };
    const server = new InferenceServer(
      { infer },
      () => clock.nowMs,
      (durationMs) => clock.delay(durationMs),
    );
    const victim = { modelVersionId: "victim", variant: "fp32", tenant: 1, budgetMs: VICTIM.budgetMs };
    const attacker = { modelVersionId: "long", variant: "fp32", tenant: attackerTenant, ...request };
    let [asked, inTime] = [0, 0];
    const own = uniformStream(1, 1);
    const victimEveryMs = attackers === 1 ? VICTIM.everyMs : 4 * VICTIM.everyMs;
    for (let atMs = 0; atMs < END_MS; atMs += exponential(own, victimEveryMs)) {
      clock.at(atMs, () => {
        const counts = atMs > 1_000 ? 1 : 0;
        asked += counts;
        void server.serve({ ...victim, requestId: `v${atMs}` }, rowOf(1)).then(
          () => (inTime += clock.nowMs <= atMs + VICTIM.budgetMs ? counts : 0),
          () => {},
        );
      });
    }
    const others = uniformStream(1, 2);
    for (let atMs = 0, count = 0; atMs < END_MS; atMs += exponential(others, everyMs), count++) {
      const tensors = rowOf(1 + (count % widths));
      const flooding = { ...attacker, tenant: attackerTenant + (count % attackers), requestId: `a${atMs}` };
      clock.at(atMs, () => void server.serve(flooding, tensors).catch(() => {}));
    }
    await clock.runUntil(END_MS + 1_000);
    return inTime / asked;
  }

  const ATTACKS: Record<string, Attack> = {
    "of the highest priority": { everyMs: 1, budgetMs: 500, priority: 9 },
    "that waits for room": { everyMs: 1, budgetMs: 500, refuseWithinMs: 400, priority: 9 },
    "by a model that earns more": { modelVersionId: "cheap", everyMs: 0.25, budgetMs: 20 },
    "by a hundred shapes": { everyMs: 1, budgetMs: 500, widths: 100, priority: 9 },
    "by requests that cannot be in time": { everyMs: 1, budgetMs: 6, priority: 9 },
  };

  it.each(Object.entries(ATTACKS))("%s leaves a tenant its answers", async (_, attack) => {
    expect(await play(attack, 2)).toBeGreaterThan(0.97);
  });

  it("by several at once leaves a tenant its answers", async () => {
    const { everyMs, ...cheap } = ATTACKS["by a model that earns more"]!;
    expect(await play({ ...cheap, everyMs: everyMs / 2 }, 2, 5)).toBeGreaterThan(0.97);
  });

  it("would not, if it came from the same tenant", async () => {
    expect(await play(ATTACKS["of the highest priority"]!, 1)).toBeLessThan(0.5);
    expect(await play(ATTACKS["by a model that earns more"]!, 1)).toBeLessThan(0.5);
  });
});
