import { describe, expect, it } from "vitest";
import { judgeArrival, type Verdict } from "../../../../../src/gpu-runner/serving/queue/judge-arrival.ts";
import { byUrgency } from "../../../../../src/gpu-runner/serving/queue/urgency.ts";
import { type Line, planBatch, type Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { fc } from "../../../property.ts";
import { idsOf, scriptLine, scriptRequest } from "./scripted-line.ts";

/** A millisecond a row and as much a batch. */
const plain = scriptLine({ fixedMs: 1, rowMs: 1, maxRows: 64 });
const capped = (caps: Pick<Line, "maxRows" | "maxInFlight">, modelKey = "model"): Line => ({
  ...plain,
  modelKey,
  ...caps,
});

const work = fc.record({
  deadlineMs: fc.integer({ min: 20, max: 400 }),
  priority: fc.integer({ min: 0, max: 2 }),
  rows: fc.integer({ min: 1, max: 12 }),
  lineAt: fc.nat({ max: 2 }),
});
const queue = fc.array(work, { maxLength: 60 });

interface Work {
  readonly deadlineMs: number;
  readonly priority: number;
  readonly rows: number;
  readonly lineAt: number;
}

function requestsOf(works: readonly Work[], lines: readonly Line[]): Waiting[] {
  return works.map(({ deadlineMs, priority, rows, lineAt }, index) =>
    scriptRequest(lines[lineAt % lines.length]!, `r${String(index).padStart(3, "0")}`, deadlineMs, { priority, rows }),
  );
}

describe("a cap of rows", () => {
  it("holds in every batch of several requests, whatever waits", () => {
    fc.assert(
      fc.property(queue, fc.integer({ min: 1, max: 32 }), (works, maxRows) => {
        const { batch } = planBatch(requestsOf(works, [capped({ maxRows }), plain]).toSorted(byUrgency), 0);
        const [head] = batch;
        const rows = batch.reduce((sum, each) => sum + each.rows, 0);
        expect(head?.line.maxRows === maxRows && batch.length > 1 ? rows : 0).toBeLessThanOrEqual(maxRows);
      }),
    );
  });

  it("makes as large a batch as it allows, and leaves one alone that brings more", () => {
    const line = capped({ maxRows: 8 });
    const waiting = Array.from({ length: 20 }, (_, index) => scriptRequest(line, `r${index}`, 10_000 + index));
    expect(planBatch(waiting, 0).batch).toHaveLength(8);
    const large = scriptRequest(line, "large", 9_000, { rows: 9 });
    expect(idsOf(planBatch([large, ...waiting], 0).batch)).toEqual(["large"]);
  });
});

/** Queue after each of the works has arrived in turn, with all verdicts; the device has begun a batch of the first. */
function arrive(works: readonly Waiting[], running: Parameters<typeof judgeArrival>[3]) {
  let order: readonly Waiting[] = [];
  const verdicts: Verdict<Waiting>["kind"][] = [];
  for (const each of works) {
    const verdict = judgeArrival(order, each, 0, running);
    verdicts.push(verdict.kind);
    if (verdict.kind === "admitted") order = verdict.order;
  }
  return { order, verdicts };
}

describe("a cap of requests in flight", () => {
  it("holds at every moment, of the model with what runs of it, and of no other model", () => {
    fc.assert(
      fc.property(
        queue,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 4 }),
        (works, maxInFlight, requests) => {
          const [mine, other] = [capped({ maxInFlight }), capped({}, "other")];
          const running = requests === 0 ? null : { line: mine, rows: requests, startedMs: 0, requests };
          const { order } = arrive(requestsOf(works, [mine, other]), running);
          const waiting = order.filter(({ line }) => line === mine).length;
          expect(waiting === 0 ? 0 : waiting + requests).toBeLessThanOrEqual(maxInFlight);
        },
      ),
    );
  });

  it("changes nothing where it is too high to be reached", () => {
    fc.assert(
      fc.property(queue, (works) => {
        const lines = (caps: Pick<Line, "maxRows" | "maxInFlight">) => [capped(caps), plain];
        const free = arrive(requestsOf(works, [{ ...plain, modelKey: "model" }, plain]), null);
        const loose = arrive(requestsOf(works, lines({ maxRows: 64, maxInFlight: 61 })), null);
        expect(loose.verdicts).toEqual(free.verdicts);
        expect(idsOf(loose.order)).toEqual(idsOf(free.order));
        expect(idsOf(planBatch(loose.order, 0).batch)).toEqual(idsOf(planBatch(free.order, 0).batch));
      }),
    );
  });

  it("refuses at once, and says when the current work will be done", () => {
    const line = capped({ maxInFlight: 2 });
    const waiting = [scriptRequest(line, "a", 1_000), scriptRequest({ ...line, joins: false }, "b", 1_000)];
    const verdict = judgeArrival(waiting, scriptRequest(line, "c", 1_000), 0, null);
    expect(verdict).toMatchObject({ kind: "overloaded", reason: expect.stringContaining("in flight"), backlogMs: 4 });
  });

  it("gives the place of the least urgent of its model to one of a higher priority", () => {
    const line = capped({ maxInFlight: 2 });
    const other = scriptRequest(capped({}, "other"), "other", 2_000);
    const waiting = [scriptRequest(line, "a", 1_000), scriptRequest(line, "b", 1_100), other];
    const verdict = judgeArrival(waiting, scriptRequest(line, "vip", 1_000, { priority: 1 }), 0, null);
    expect(verdict.kind === "admitted" && [idsOf(verdict.order), idsOf(verdict.pushedOut)]).toEqual([
      ["vip", "a", "other"],
      ["b"],
    ]);
    const running = { line, rows: 2, startedMs: 0, requests: 2 };
    expect(judgeArrival([other], scriptRequest(line, "vip", 1_000, { priority: 1 }), 0, running).kind).toBe(
      "overloaded",
    );
  });
});
