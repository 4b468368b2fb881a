import { z } from "zod";
import { benchmarkFields } from "./benchmark.ts";
import { Clock, Distribution } from "../wire/distribution.ts";
import { Environment, ModelName, targetFields } from "./job-fields.ts";
import { faultFields } from "../wire/fault.ts";
import { Fingerprint, fingerprintText } from "../fleet/hardware.ts";
import { Digest, createContentId, idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Problem } from "../wire/problem.ts";
import { Instant, Name, PageQuery, pageOf } from "../wire/page.ts";
import { NetworkLayout } from "../models/network-layout.ts";
import { DType } from "../wire/tensor.ts";

/**
 * Searches what is fastest on a device: a kernel's variants and axes at a shape, or the layouts of a model's network in
 * our own kernels at its declared sizes.
 */
export const tuningFields = {
  kind: z.literal("tuning"),
  kernel: benchmarkFields.kernel.optional(),
  model: ModelName.optional().meta({ description: "Instead of a kernel, which has a shape and an element type" }),
  variant: Name.optional().meta({ description: "Of a model: the file to tune; absent: the version's own" }),
  shape: benchmarkFields.shape,
  dtype: benchmarkFields.dtype,
  budgetMs: z.number().int().min(LIMITS.minTuningBudgetMs).max(LIMITS.maxTuningBudgetMs).default(30_000).meta({
    description: "The search ends within about this time, with the best that it has found",
  }),
  seed: benchmarkFields.seed,
  fresh: z
    .boolean()
    .default(false)
    .meta({ description: "Search again even where the answer is known. A model is always measured again" }),
  ...targetFields,
};
export const TuningSpec = z
  .object({
    ...tuningFields,
    modelVersionId: idSchema("modelVersion").optional().meta({ description: "Of a model" }),
  })
  .meta({ id: "TuningSpec" });
export type TuningSpec = z.infer<typeof TuningSpec>;
/** Of a kernel. */
export const KernelTuningSpec = TuningSpec.required({ kernel: true });
export type KernelTuningSpec = z.infer<typeof KernelTuningSpec>;

/** Whether a tuning is of a kernel, and not of a model. */
export function isKernelTuning(spec: TuningSpec): spec is KernelTuningSpec {
  return spec.kernel !== undefined;
}

const Sizes = z.record(z.string(), z.number().int());

/** A variant with a value for each of its axes. */
const Choice = z.object({ variant: Name, axes: Sizes });

/** A choice and its runs in the last rung. */
const TimedChoice = Choice.extend({ ms: Distribution }).meta({ id: "TimedChoice" });

/** One candidate and what became of it. */
export const TuningTrial = Choice.extend({
  outcome: z.enum(["timed", "too-slow", "wrong", "invalid", "untried"]).meta({
    description:
      "`wrong`: differs from the reference, never timed; `invalid`: does not compile or fit; `too-slow`: given up after its check; `untried`: the budget ended first",
  }),
  reason: z.string().max(LIMITS.tuningReasonLength).nullable(),
  rungsMs: z.array(z.array(z.number()).max(LIMITS.tuningRounds)).max(LIMITS.tuningRungs).meta({
    description: "Its runs in order, rung by rung; the first rung is the shortest run of its check",
  }),
}).meta({ id: "TuningTrial" });
export type TuningTrial = z.infer<typeof TuningTrial>;

const Gain = z.object({ ratio: z.number().positive(), low: z.number().nullable(), high: z.number().nullable() });

/** A layout as a result names it: a release may no longer have the tiling. */
const ReportedLayout = NetworkLayout.extend({
  tiling: z.string().max(LIMITS.nameLength).nullable().meta({ description: "As of its release; null: no tiles" }),
}).meta({ id: "ReportedLayout" });

/** A layout and its runs, in turn with those of another. */
const TimedLayout = z.object({ layout: ReportedLayout, ms: Distribution }).meta({ id: "TimedLayout" });

/** Layouts of a model's network on one device, each measured beside the one that served before. */
export const NetworkTuning = z
  .object({
    model: ModelName.meta({ description: "Name and version" }),
    modelVersionId: idSchema("modelVersion"),
    variant: Name,
    sizes: z
      .array(
        z.object({
          inputs: z
            .record(z.string(), z.array(z.number().int()))
            .meta({ description: "Shapes by the names of inputs" }),
          trials: z
            .array(
              z.object({
                layout: ReportedLayout,
                ms: z.number().nullable().meta({ description: "Of its fastest run; null: left out" }),
                reason: z.string().max(LIMITS.tuningReasonLength).nullable(),
              }),
            )
            .max(LIMITS.tuningTrials)
            .meta({ description: "In order, the default first" }),
          before: TimedLayout.meta({ description: "What served before; the default where nothing was measured" }),
          after: TimedLayout.meta({ description: "What serves now: the same, unless another is surely faster" }),
          gain: Gain,
          complete: z.boolean().meta({ description: "False where the budget ended before all were tried" }),
        }),
      )
      .min(1)
      .max(LIMITS.layoutSizes),
    sizesLeft: z
      .number()
      .int()
      .nonnegative()
      .optional()
      .meta({ description: "Number of declared sizes that the budget left out" }),
    reloaded: z.boolean().meta({
      description: "Whether a loaded placement serves by it already; false: the next load does",
    }),
    reloadProblem: Problem.optional().meta({
      description:
        "Why a loaded placement could not be loaded again: it serves as before; absent: it could, or none was",
    }),
    budgetMs: z.number(),
    spentMs: z.number(),
    tunedAt: Instant,
  })
  .meta({ id: "NetworkTuning" });
export type NetworkTuning = z.infer<typeof NetworkTuning>;

/** Result of a search, valid for every runner with the same fingerprint. */
export const Tuning = z.object({
  kernel: Name,
  dtype: DType,
  /** The shape that was searched at, and the sizes that it stands for. */
  shape: Sizes,
  bucket: Sizes,
  digest: Digest.meta({ description: "Of the candidates: names, axes, WGSL" }),
  fingerprint: Fingerprint,
  deviceName: z.string().max(256),
  software: z.boolean(),
  clock: Clock,
  best: TimedChoice,
  untuned: TimedChoice.nullable().meta({ description: "The default; null where it does not run here or is wrong" }),
  gain: Gain.nullable().meta({
    description: "How many times faster than the default, with a 95 % interval where runs allow one",
  }),
  candidates: z.number().int().meta({ description: "Combinations that there are; a large space is sampled" }),
  budgetMs: z.number(),
  spentMs: z.number(),
  complete: z.boolean().meta({ description: "False where the budget cut the search short" }),
  tunedAt: Instant,
});
export type Tuning = z.infer<typeof Tuning>;

/** A tuning with all that was tried for it. */
export const TuningRecord = z.object({ tuning: Tuning, trials: z.array(TuningTrial).max(LIMITS.tuningTrials) });
export type TuningRecord = z.infer<typeof TuningRecord>;

export const TuningResult = TuningRecord.partial()
  .extend({
    kind: z.literal("tuning"),
    network: NetworkTuning.optional().meta({ description: "Of a model, instead of `tuning` and `trials`" }),
    cached: z.boolean().meta({ description: "Whether the answer was known and nothing was timed" }),
    environment: Environment,
    ...faultFields,
  })
  .meta({ id: "TuningResult" });
export type TuningResult = z.infer<typeof TuningResult>;

/** A tuning as the edge keeps it: the latest of its kernel, type, bucket, candidates and fingerprint. */
export const StoredTuning = Tuning.extend({
  id: idSchema("tuning"),
  fingerprintId: idSchema("fingerprint"),
  jobId: idSchema("job"),
  runnerId: idSchema("runner"),
}).meta({ id: "Tuning" });
export type StoredTuning = z.infer<typeof StoredTuning>;
export const TuningPage = pageOf(StoredTuning, "Tuning");
export const StoredTuningRecord = TuningRecord.extend({ tuning: StoredTuning }).meta({ id: "TuningRecord" });
export type StoredTuningRecord = z.infer<typeof StoredTuningRecord>;

export const TuningListQuery = PageQuery.extend({
  kernel: Name.optional().meta({ description: "Tunings of this kernel only" }),
  device: idSchema("fingerprint").optional().meta({ description: "Id of a fingerprint, as a tuning gives it" }),
});
export type TuningListQuery = z.infer<typeof TuningListQuery>;

/** Identity of a tuning; another value of any field is another tuning. */
export type TuningKey = Pick<Tuning, "kernel" | "dtype" | "bucket" | "digest" | "fingerprint">;

/** Id of the tuning that answers a key, the same on every runner and at the edge. */
export function tuningIdOf({ kernel, dtype, bucket, digest, fingerprint }: TuningKey): Promise<string> {
  const sizes = Object.entries(bucket).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createContentId("tuning", JSON.stringify([kernel, dtype, sizes, digest, fingerprintText(fingerprint)]));
}
