import { describe, expect, it } from "vitest";
import { layOutTrace, sumSpans } from "../../../src/dashboard/jobs/lay-out-trace.ts";
import type { TraceEvent } from "../../../src/protocol/jobs/benchmark.ts";

const named = (tid: number, name: string): TraceEvent => ({
  ph: "M",
  name: "thread_name",
  pid: 1,
  tid,
  args: { name },
});
const span = (tid: number, name: string, ts: number, dur: number, run?: number): TraceEvent => ({
  ph: "X",
  name,
  cat: "runner",
  ts,
  dur,
  pid: 1,
  tid,
  args: { clock: "runner-wall", ...(run !== undefined && { run }) },
});

describe("the layout of a trace", () => {
  it("puts each thread on its lane, and what is within another span below it", () => {
    const traceEvents = [
      named(1, "runner"),
      named(2, "GPU"),
      // As a file may have them: not in order.
      span(1, "compute", 20, 30, 1),
      span(1, "measure", 10, 90),
      span(1, "run", 10, 45, 1),
      span(1, "run", 55, 45, 2),
      span(2, "compute", 25, 20, 1),
      { ph: "C" as const, name: "bytes", ts: 5, pid: 1, tid: 1, args: { live: 1 } },
    ];
    const laid = layOutTrace({ traceEvents });
    expect(laid).toMatchObject({ startUs: 10, endUs: 100 });
    expect(laid.lanes.map(({ name, rows }) => [name, rows])).toEqual([
      ["runner", 3],
      ["GPU", 1],
    ]);
    expect(laid.lanes[0]?.spans.map(({ name, depth, run }) => [name, depth, run])).toEqual([
      ["measure", 0, null],
      ["run", 1, 1],
      ["compute", 2, 1],
      ["run", 1, 2],
    ]);
  });

  it("sums the spans of a name lane by lane, the most time first", () => {
    const traceEvents = [
      span(1, "run", 0, 10),
      span(1, "run", 20, 30),
      span(2, "run", 0, 90),
      span(1, "check", 60, 50),
    ];
    expect(
      sumSpans(layOutTrace({ traceEvents })).map(({ name, lane, count, totalUs }) => [name, lane, count, totalUs]),
    ).toEqual([
      ["run", "thread 1 2", 1, 90],
      ["check", "thread 1 1", 1, 50],
      ["run", "thread 1 1", 2, 40],
    ]);
    expect(sumSpans(layOutTrace({ traceEvents }))[2]?.longest.startUs).toBe(20);
  });

  it("holds nothing of a trace without spans", () => {
    expect(layOutTrace({ traceEvents: [named(1, "runner")] })).toEqual({ lanes: [], startUs: 0, endUs: 0 });
  });
});
