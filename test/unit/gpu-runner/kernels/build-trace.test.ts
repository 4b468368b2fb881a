import { describe, expect, it } from "vitest";
import { buildTrace } from "../../../../src/gpu-runner/kernels/benchmark/build-trace.ts";
import type { Recording } from "../../../../src/gpu-runner/devices/gpu/span-recorder.ts";
import { Trace, type TraceEvent } from "../../../../src/protocol/jobs/benchmark.ts";

const counters = {
  dispatches: 1,
  uploadedBytes: 2,
  readBackBytes: 3,
  buffersCreated: 4,
  buffersReused: 5,
  liveBytes: 6,
  pipelineHits: 7,
  pipelineMisses: 8,
  compileMs: 9,
};

/** Three runs, each 10 ms after the one before; the GPU's clock began long ago and runs beside the runner's. */
const recording: Recording = {
  startedAt: "2026-11-21T09:30:00.000Z",
  startMs: 1_000,
  spans: [0, 1, 2].flatMap((run) => [
    { name: "run", startMs: 1_000 + 10 * run, endMs: 1_009 + 10 * run, run },
    { name: "queue", startMs: 1_000 + 10 * run, endMs: 1_001 + 10 * run, run },
  ]),
  gpuSpans: [
    { run: 0, submittedMs: 1_001, beginNs: 9_000_000_000_000_500n, endNs: 9_000_000_002_000_500n },
    { run: 1, submittedMs: 1_011, beginNs: 9_000_000_009_000_500n, endNs: 9_000_000_011_000_500n },
    { run: 2, submittedMs: 1_021, beginNs: 9_000_000_020_500_500n, endNs: 9_000_000_022_500_500n },
  ],
  samples: [{ atMs: 1_030, counters }],
};

const read = (maxBytes = 1e6, what: Recording = recording) => {
  const { text, summary } = buildTrace(what, "gpu0: sample", maxBytes);
  return { text, summary, trace: Trace.parse(JSON.parse(text)) };
};
const spansOf = (events: readonly TraceEvent[], tid: number) =>
  events.filter((event) => event.ph === "X" && event.tid === tid) as Extract<TraceEvent, { ph: "X" }>[];

describe("a trace", () => {
  it("has the shape that viewers read: microseconds, processes and threads with names", () => {
    const { trace, text } = read();
    expect(JSON.parse(text)).toEqual(trace);
    const names = trace.traceEvents.flatMap((event) => (event.ph === "M" ? [[event.name, event.args.name]] : []));
    expect(names).toEqual([
      ["process_name", "gpu0: sample"],
      ["thread_name", "runner (runner-wall)"],
      ["thread_name", "GPU (gpu-timestamp)"],
    ]);
    expect(trace.traceEvents.find(({ ph }) => ph === "X")).toEqual({
      ph: "X",
      name: "run",
      cat: "runner",
      ts: 0,
      dur: 9_000,
      pid: 1,
      tid: 1,
      args: { clock: "runner-wall", run: 0 },
    });
    const times = trace.traceEvents.flatMap((event) => (event.ph === "M" ? [] : [event.ts]));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("keeps the clocks apart: each track has one, and every span names it", () => {
    const { trace } = read();
    expect(new Set(spansOf(trace.traceEvents, 1).map(({ args }) => args.clock))).toEqual(new Set(["runner-wall"]));
    expect(new Set(spansOf(trace.traceEvents, 2).map(({ args }) => args.clock))).toEqual(new Set(["gpu-timestamp"]));
  });

  it("moves the GPU's clock by one offset, the least that lets no pass begin before it was submitted", () => {
    const spans = spansOf(read().trace.traceEvents, 2);
    expect(spans.map(({ dur }) => dur)).toEqual([2_000, 2_000, 2_000]);
    // The second run, submitted at 11 ms, is the one that the offset hangs on.
    expect(spans.map(({ ts }) => ts)).toEqual([2_000, 11_000, 22_500]);
  });

  it("shows the counters", () => {
    const samples = read().trace.traceEvents.filter(({ ph }) => ph === "C");
    expect(Object.assign({}, ...samples.map(({ args }) => args))).toEqual(counters);
  });

  it("without timestamps has no spans of the GPU", () => {
    expect(spansOf(read(1e6, { ...recording, gpuSpans: [] }).trace.traceEvents, 2)).toEqual([]);
  });

  it("over its limit loses the oldest events, keeps the names and reports the loss", () => {
    const whole = read();
    expect(whole.summary).toMatchObject({ droppedEvents: 0, sizeBytes: Buffer.byteLength(whole.text) });
    for (const maxBytes of [1_500, 2_000, 2_500]) {
      const { trace, summary, text } = read(maxBytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(summary.droppedEvents).toBeGreaterThan(0);
      expect(trace.otherData.droppedEvents).toBe(summary.droppedEvents);
      expect(trace.traceEvents).toHaveLength(summary.events);
      expect(summary.events + summary.droppedEvents).toBe(whole.summary.events);
      expect(trace.traceEvents).toEqual([
        ...whole.trace.traceEvents.slice(0, 3),
        ...whole.trace.traceEvents.slice(3 + summary.droppedEvents),
      ]);
    }
  });
});
