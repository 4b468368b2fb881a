import { z } from "zod";
import { BenchmarkResult } from "./benchmark.ts";
import { Clock, Distribution } from "../wire/distribution.ts";
import { deviceFields, Environment, targetFields } from "./job-fields.ts";
import { faultFields } from "../wire/fault.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { DType } from "../wire/tensor.ts";

/** Keeps a device busy with one kernel: every submission uploads, computes and reads back, several at once. */
export const throughputFields = {
  kind: z.literal("throughput"),
  kernel: Name,
  shape: z.record(z.string(), z.number().int().min(1)).default({}).meta({
    description: "Sizes of one submission to begin with; a kernel with a batch dimension is given larger batches",
  }),
  dtype: DType.optional().meta({ description: "Absent: the kernel's first" }),
  variant: Name.optional(),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  targetBusyShare: z.number().min(0.1).max(0.99).default(0.9),
  latencyBudgetMs: z.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs).optional().meta({
    description: "No submission shall take longer at its 99th percentile; the controller backs off before",
  }),
  mode: z.enum(["careful", "aggressive"]).default("careful"),
  intervalMs: z.number().int().min(50).max(5_000).default(250).meta({ description: "Of control" }),
  adaptMs: z.number().int().min(100).max(120_000).default(5_000).meta({ description: "Time to find a setting" }),
  measureMs: z.number().int().min(100).max(120_000).default(5_000).meta({ description: "Time at that setting" }),
  maxDepth: z.number().int().min(1).max(LIMITS.submissionsInFlight).default(8),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  ...targetFields,
  ...deviceFields,
};
export const ThroughputSpec = z.object(throughputFields).meta({ id: "ThroughputSpec" });
export type ThroughputSpec = z.infer<typeof ThroughputSpec>;

/** Submissions in flight, and items of the batch dimension in each (1 where the kernel has none). */
const LoadSetting = z.object({ depth: z.number().int().min(1), batch: z.number().int().min(1) });

/** One interval of control: what was seen, what was expected of the next, and what was done about it. */
export const ControlStep = z.object({
  atMs: z.number(),
  setting: LoadSetting,
  busyShare: z.number(),
  latencyMs: z.number(),
  forecast: z.object({ busyShare: z.number(), latencyMs: z.number() }),
  move: z.enum(["hold", "deepen", "widen", "narrow", "shallow"]),
});
export type ControlStep = z.infer<typeof ControlStep>;

export const ThroughputResult = z
  .object({
    kind: z.literal("throughput"),
    kernel: Name,
    variant: Name,
    shape: z.record(z.string(), z.number().int()).meta({ description: "Of the measured submissions" }),
    dtype: DType,
    correctness: BenchmarkResult.shape.correctness,
    setting: LoadSetting,
    steps: z.array(ControlStep).max(LIMITS.controlSteps),
    /** Share of the measured time in which the device computed, copies not counted. */
    busyShare: z.number(),
    /** Clock of the busy share; wall time where the device has no timestamps. */
    clock: Clock,
    submissionsPerSecond: z.number(),
    itemsPerSecond: z.number(),
    gflops: z.number().nullable(),
    uploadedBytesPerSecond: z.number(),
    readBackBytesPerSecond: z.number(),
    /** From submission to the answer in host memory. */
    latencyMs: Distribution,
    environment: Environment,
    ...faultFields,
  })
  .meta({ id: "ThroughputResult" });
export type ThroughputResult = z.infer<typeof ThroughputResult>;
