import { z } from "@hono/zod-openapi";
import { BenchmarkCounters } from "./counters.ts";
import { Clock, Distribution } from "./distribution.ts";
import { Environment } from "./environment.ts";
import { faultFields } from "./fault.ts";
import { Backend, DeviceKey } from "./hardware.ts";
import { deviceFields, targetFields } from "./job-target.ts";
import { LIMITS } from "./limits.ts";
import { PredictedOccupancy } from "./occupancy.ts";
import { Name } from "./page.ts";
import { RooflinePosition } from "./roofline.ts";
import { DType } from "./tensor.ts";
import { TraceSummary } from "./trace.ts";

/** Runs one kernel: outputs are checked against its reference first, then it is timed. */
export const benchmarkFields = {
  kind: z.literal("benchmark"),
  kernel: Name.openapi({ description: "An announced kernel by name, or a submitted one by id" }),
  shape: z.record(z.string(), z.number().int().min(1)).default({}).openapi({
    description: "Sizes by name; what is absent takes the kernel's default",
  }),
  dtype: DType.optional().openapi({ description: "Absent: the kernel's first" }),
  variant: Name.optional(),
  axes: z.record(z.string(), z.number().int()).optional().openapi({
    description: "Values of the variant's tuning axes; what is absent takes its default",
  }),
  tuned: z.boolean().default(true).openapi({
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
  trace: z.boolean().default(false).openapi({ description: "Whether to profile it and keep the trace with its run" }),
  allowSmallerBatch: z.boolean().optional().openapi({
    description:
      "Where memory ends, half the batch is run, and half of that; else the job fails and says what would fit",
  }),
  onDeviceFailure: z.enum(["fail", "cpu-reference"]).optional().openapi({
    description:
      "What answers where the device fails for good; a reference is timed on the CPU and never enters the history",
  }),
  spread: z.boolean().optional().openapi({
    description: "Divides the batch over the runner's devices of one kind, in proportion to their measured speed",
  }),
  ...targetFields,
  ...deviceFields,
};
export const BenchmarkSpec = z
  .object({
    ...benchmarkFields,
    reference: Name.optional().openapi({
      description: "The kernel on whose leaderboard a submitted kernel stands; filled in by the edge",
    }),
  })
  .openapi("BenchmarkSpec");
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
    /** What executed it; absent where it was `wgsl`. */
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
  .openapi("BenchmarkResult");
export type BenchmarkResult = z.infer<typeof BenchmarkResult>;
