import { z } from "zod";
import { Backend, DeviceKey } from "../fleet/hardware.ts";
import { RooflinePosition } from "../fleet/roofline.ts";
import { Clock, Distribution } from "../wire/distribution.ts";
import { faultFields } from "../wire/fault.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { DType } from "../wire/tensor.ts";
import { deviceFields, Environment, targetFields } from "./job-fields.ts";

/** Device counters of a benchmark, from compilation to the last run. */
export const BenchmarkCounters = z
  .object({
    dispatches: z.number().int(),
    uploadedBytes: z.number().int(),
    readBackBytes: z.number().int().meta({ description: "Of outputs; timestamps are not counted" }),
    buffersCreated: z.number().int(),
    buffersReused: z.number().int(),
    liveBytes: z.number().int().meta({ description: "In use on the device when the last run ended" }),
    pipelineHits: z.number().int(),
    pipelineMisses: z.number().int(),
    compileMs: z.number(),
  })
  .meta({ id: "BenchmarkCounters" });
export type BenchmarkCounters = z.infer<typeof BenchmarkCounters>;

/**
 * Share of a processor that a kernel's workgroups can fill, by the architecture's rules, not measured. WebGPU does not
 * report registers per lane, so the real figure may be lower.
 */
export const PredictedOccupancy = z
  .object({
    label: z.literal("predicted"),
    architecture: z.string(),
    unit: z.enum(["SM", "WGP"]).meta({ description: "The processor that the figures are of" }),
    wavesPerWorkgroup: z.number().int(),
    workgroupMemoryBytes: z.number().int(),
    workgroups: z.number().int().meta({ description: "Resident on one processor at a time, at most" }),
    waves: z.number().int(),
    maxWaves: z.number().int(),
    share: z.number().meta({ description: "waves / maxWaves: an upper bound" }),
    limitedBy: z.enum(["waves", "workgroups", "workgroup-memory"]),
    registers: z.enum(["unknown", "given"]),
  })
  .meta({ id: "PredictedOccupancy" });
export type PredictedOccupancy = z.infer<typeof PredictedOccupancy>;

const at = { pid: z.number().int(), tid: z.number().int() };
/** Microseconds since the trace began. */
const microseconds = z.number();

/** Metadata event of a trace; a viewer shows `name` for a process and its threads. */
const MetadataEvent = z.object({
  ph: z.literal("M"),
  name: z.enum(["process_name", "thread_name"]),
  ...at,
  args: z.object({ name: z.string() }),
});
/** A span: begin and duration on the clock that `args` names. */
const CompleteEvent = z.object({
  ph: z.literal("X"),
  name: z.string(),
  cat: z.string(),
  ts: microseconds,
  dur: microseconds.min(0),
  ...at,
  args: z.object({ clock: Clock, run: z.number().int().optional() }),
});
/** Counters as they stood at an instant. */
const CounterEvent = z.object({
  ph: z.literal("C"),
  name: z.string(),
  ts: microseconds,
  ...at,
  args: z.record(z.string(), z.number()),
});

export const TraceEvent = z.discriminatedUnion("ph", [MetadataEvent, CompleteEvent, CounterEvent]);
export type TraceEvent = z.infer<typeof TraceEvent>;

/** A profile in Chrome's Trace Event Format, as Perfetto and chrome://tracing read it. */
export const Trace = z
  .object({
    traceEvents: z.array(TraceEvent),
    displayTimeUnit: z.literal("ms"),
    otherData: z.object({
      startedAt: z.iso.datetime(),
      droppedEvents: z.number().int().meta({ description: "The oldest, where all would be over the limit" }),
      alignment: z.string().meta({ description: "How the GPU's clock was laid over the runner's" }),
    }),
  })
  .meta({ id: "Trace" });
export type Trace = z.infer<typeof Trace>;

/** Size of a run's trace, and its missing parts. */
export const TraceSummary = z
  .object({ events: z.number().int(), droppedEvents: z.number().int(), sizeBytes: z.number().int() })
  .meta({ id: "TraceSummary" });
export type TraceSummary = z.infer<typeof TraceSummary>;

/** Runs one kernel: outputs are checked against its reference first, then it is timed. */
export const benchmarkFields = {
  kind: z.literal("benchmark"),
  kernel: Name.meta({ description: "An announced kernel by name, or a submitted one by id" }),
  shape: z.record(z.string(), z.number().int().min(1)).default({}).meta({
    description: "Sizes by name; what is absent takes the kernel's default",
  }),
  dtype: DType.optional().meta({ description: "Absent: the kernel's first" }),
  variant: Name.optional(),
  axes: z.record(z.string(), z.number().int()).optional().meta({
    description: "Values of the variant's tuning axes; what is absent takes its default",
  }),
  tuned: z.boolean().default(true).meta({
    description: "False: the untuned default, even where a tuning is known. A named variant is never tuned",
  }),
  warmup: z.number().int().min(0).max(LIMITS.maxWarmup).default(5),
  iterations: z.number().int().min(1).max(LIMITS.maxIterations).default(100),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  trace: z.boolean().default(false).meta({ description: "Whether to profile it and keep the trace with its run" }),
  allowSmallerBatch: z.boolean().optional().meta({
    description:
      "Where memory ends, half the batch is run, and half of that; else the job fails and says what would fit",
  }),
  onDeviceFailure: z.enum(["fail", "cpu-reference"]).optional().meta({
    description:
      "What answers where the device fails for good; a reference is timed on the CPU and never enters the history",
  }),
  spread: z.boolean().optional().meta({
    description: "Divides the batch over the runner's devices of one kind, in proportion to their measured speed",
  }),
  ...targetFields,
  ...deviceFields,
};
export const BenchmarkSpec = z
  .object({
    ...benchmarkFields,
    reference: Name.optional().meta({
      description: "The kernel on whose leaderboard a submitted kernel stands; filled in by the edge",
    }),
  })
  .meta({ id: "BenchmarkSpec" });
export type BenchmarkSpec = z.infer<typeof BenchmarkSpec>;

export const BenchmarkResult = z
  .object({
    kind: z.literal("benchmark"),
    kernel: Name,
    variant: Name,
    axes: z.record(z.string(), z.number().int()).default({}),
    /** Whether these are the variant's own values. */
    defaultAxes: z.boolean().default(true),
    /** Whether variant and axes are those that a tuning found. */
    tuned: z.boolean().default(false),
    /** Backend that executed it; `wgsl` where absent. */
    backend: Backend.optional(),
    shape: z.record(z.string(), z.number().int()),
    dtype: DType,
    correctness: z.object({
      correct: z.literal(true),
      checkedElements: z.number().int(),
      maxAbsoluteError: z.number(),
      maxRelativeError: z.number(),
      tolerance: z.string(),
    }),
    warmup: z.number().int(),
    /** Duration of the dispatch on the GPU's own clock; null on a device without timestamps. */
    gpuMs: Distribution.nullable(),
    /** Submit to completion, on the runner's monotonic clock. */
    wallMs: Distribution,
    /** The clock that throughput is computed from. */
    clock: Clock,
    gflops: z.number().nullable(),
    gigabytesPerSecond: z.number(),
    /** Absent from older results, as are the three below. */
    roofline: RooflinePosition.nullable().default(null),
    /** Null where the architecture's rules are not in our table, as on every software device. */
    occupancy: PredictedOccupancy.nullable().default(null),
    counters: BenchmarkCounters.nullable().default(null),
    /** Null where none was asked for. */
    trace: TraceSummary.nullable().default(null),
    environment: Environment,
    /** Set where the device failed and the f64 reference answered: the times are then the reference's on the CPU. */
    fallback: z.literal("cpu-reference").optional(),
    /** Shares of a batch that was spread. Rates are then sums, and durations those of the part that took longest. */
    parts: z
      .array(
        z.object({ deviceKey: DeviceKey, batch: z.number().int(), p50Ms: z.number(), gigabytesPerSecond: z.number() }),
      )
      .max(LIMITS.devices)
      .optional(),
    ...faultFields,
  })
  .meta({ id: "BenchmarkResult" });
export type BenchmarkResult = z.infer<typeof BenchmarkResult>;
