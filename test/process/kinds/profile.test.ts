import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec, Trace, type TraceEvent } from "../../../src/protocol/jobs/benchmark.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 600_000;
/** Rounding error of doubles in microseconds. */
const ROUNDING_US = 1;
/** Their spans are a tenth more than the limit holds. */
const RUNS = 6_500;

let host: DeviceHost;
beforeAll(async () => {
  const logger = pino({ level: "silent" });
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" });
}, TIMEOUT_MS);
afterAll(() => host.stop());

type Span = Extract<TraceEvent, { ph: "X" }>;
const endOf = ({ ts, dur }: Span) => ts + dur;
const contains = (outer: Span, inner: Span) =>
  outer.ts <= inner.ts + ROUNDING_US && endOf(outer) >= endOf(inner) - ROUNDING_US;

async function profile(changes: object = {}) {
  const spec = BenchmarkSpec.parse({
    kind: "benchmark",
    kernel: "reduce",
    shape: { n: 5_000 },
    warmup: 2,
    iterations: 5,
    trace: true,
    timeoutMs: TIMEOUT_MS,
    ...changes,
  });
  const measured = await host.benchmark(spec);
  const trace = Trace.parse(JSON.parse(measured.traceText ?? "null"));
  const spans = trace.traceEvents.filter((event): event is Span => event.ph === "X");
  const named = (name: string, clock = "runner-wall") =>
    spans.filter((span) => span.name === name && span.args.clock === clock);
  return { measured, trace, named };
}

test(
  "a profiled benchmark's spans nest: phases, their runs, and the steps of each run in order",
  async () => {
    const { named } = await profile();
    const phases = ["upload", "compile", "check", "warmup", "measure"].map((name) => named(name));
    expect(phases.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1]);
    const starts = phases.map(([span]) => span?.ts ?? Number.NaN);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    const [, , check, warmup, measure] = phases.map(([span]) => span!);
    for (const [phase, runs] of [
      [warmup!, 2],
      [measure!, 5],
    ] as const) {
      const inside = named("run").filter((run) => contains(phase, run));
      expect(inside.map(({ args }) => args.run)).toEqual(Array.from({ length: runs }, (_, run) => run));
      for (const run of inside) {
        const steps = ["queue", "compute", "readback"].map((name) => named(name).find((step) => contains(run, step))!);
        expect(steps.every((step) => step.args.run === run.args.run)).toBe(true);
        // One step begins where the other ends, and together they are the run.
        for (const [index, step] of steps.slice(1).entries()) expect(step.ts).toBeCloseTo(endOf(steps[index]!), 0);
        expect(steps.reduce((sum, { dur }) => sum + dur, 0)).toBeCloseTo(run.dur, 0);
      }
    }
    expect(named("readback").filter((span) => contains(check!, span))).toHaveLength(1);
  },
  TIMEOUT_MS,
);

test(
  "passes on the GPU's clock have a track of their own, none before it was submitted",
  async () => {
    const { named, measured } = await profile();
    const passes = named("compute", "gpu-timestamp");
    expect(passes).toHaveLength(7);
    const submissions = named("compute").filter(({ args }) => args.run !== undefined);
    for (const [index, pass] of passes.entries()) {
      expect(pass.tid).not.toBe(submissions[index]?.tid);
      expect(pass.ts).toBeGreaterThanOrEqual((submissions[index]?.ts ?? 0) - ROUNDING_US);
    }
    const timedUs = passes.slice(2).reduce((sum, { dur }) => sum + dur, 0);
    expect(timedUs / 1e3).toBeCloseTo(measured.gpuMs?.sum ?? 0, 6);
  },
  TIMEOUT_MS,
);

test(
  "the counters say what the benchmark asked of the device, in the result and in the trace",
  async () => {
    await profile({ shape: { n: 6_000 } });
    const { measured, trace } = await profile({ shape: { n: 6_000 }, seed: 2 });
    // Two passes a run: one to check, two to warm up, five that are timed.
    expect(measured.counters).toMatchObject({
      dispatches: 2 * (1 + 2 + 5),
      uploadedBytes: 4 * 6_000 + 4,
      readBackBytes: 4,
      buffersCreated: 0,
      pipelineHits: 1,
      pipelineMisses: 0,
      compileMs: 0,
    });
    const samples = trace.traceEvents.flatMap((event) => (event.ph === "C" ? [event] : []));
    expect(new Set(samples.map(({ name }) => name))).toEqual(
      new Set(["dispatches", "bytes", "buffer pool", "buffer pool bytes", "pipeline cache", "compile time"]),
    );
    const dispatches = samples.filter(({ name }) => name === "dispatches").map(({ args }) => args["dispatches"]!);
    expect(dispatches.at(-1)! - dispatches[0]!).toBe(2 * (1 + 2 + 5));
  },
  TIMEOUT_MS,
);

test(
  "a benchmark of many runs keeps the newest of its spans, within the limit",
  async () => {
    const { measured, trace, named } = await profile({ kernel: "empty-dispatch", shape: {}, iterations: RUNS });
    expect(measured.trace?.sizeBytes).toBeLessThanOrEqual(LIMITS.traceBytes);
    expect(measured.trace?.sizeBytes).toBe(Buffer.byteLength(measured.traceText ?? ""));
    expect(measured.trace?.droppedEvents).toBeGreaterThan(0);
    expect(trace.otherData.droppedEvents).toBe(measured.trace?.droppedEvents);
    expect(named("run").at(-1)?.args.run).toBe(RUNS - 1);
    expect(named("compile")).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "without a wish for it there is no trace, but counters",
  async () => {
    const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "reduce", shape: { n: 5_000 }, iterations: 1 });
    const { trace, traceText, counters } = await host.benchmark(spec);
    expect({ trace, traceText }).toEqual({ trace: null, traceText: null });
    expect(counters?.dispatches).toBe(2 * (1 + 5 + 1));
  },
  TIMEOUT_MS,
);
