import { z } from "zod";
import { Distribution } from "../wire/distribution.ts";
import { Backend } from "../fleet/hardware.ts";
import { Digest, idSchema } from "../wire/id.ts";
import { MeasuredFidelity, Recipe } from "./variant.ts";
import { ModelFile } from "./upload.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";
import { PlacementRule, ServingConfiguration } from "../fleet/serving.ts";
import { PolicyCard } from "./policy-network.ts";
import { Requirement } from "./requirement.ts";
import { LIMITS } from "../wire/limits.ts";
import { Problem } from "../wire/problem.ts";
import { DType, Shape } from "../wire/tensor.ts";

/** One input or output of a network; a free dimension is -1. */
export const TensorSpec = z
  .object({
    name: z.string(),
    dtype: DType,
    shape: z.array(z.number().int().min(-1)),
    labels: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: "Of a classifier's output: the class of each place along the last axis" }),
    shapes: z.array(Shape).min(1).max(LIMITS.measuredSizes).optional().meta({
      description:
        "Of an input: the shapes at which it is measured, the first by default; absent: 1 in free dimensions",
    }),
    values: z.array(z.number()).min(1).max(LIMITS.inputValues).optional().meta({
      description: "Of an input: the numbers that measurements draw from; absent: [0, 1) for floats, else 0 and 1",
    }),
  })
  .meta({ id: "TensorSpec" });
export type TensorSpec = z.infer<typeof TensorSpec>;

const count = z.number().int().min(0);

/** Size and work of a network, counted from its file. */
export const ModelSummary = z
  .object({
    opset: z.number().int(),
    nodes: count,
    operators: z.record(z.string(), count).meta({
      description: "Nodes of each operator, by name, with its domain before it where it is not ONNX's own",
    }),
    parameters: count.meta({ description: "Numbers in weights, quantised ones too; neither shapes nor scales" }),
    quantisedParameters: count.meta({ description: "Those of them that stand as whole numbers" }),
    weightBytes: count.meta({ description: "Of all tensors in the file" }),
    multiplyAddsPerRow: count.nullable().meta({
      description: "Products that are added up, for 1 in every free dimension; null where the file does not say it",
    }),
    flopsPerRow: count.nullable().meta({ description: "Two for each of those, and all other arithmetic" }),
    activationBytesPerRow: count.nullable().meta({ description: "Of all that is computed on the way, as float32" }),
  })
  .meta({ id: "ModelSummary" });
export type ModelSummary = z.infer<typeof ModelSummary>;

const Summary = ModelSummary.nullable()
  .default(null)
  .meta({ description: "Null for a file stored before this was counted" });

/** Whether a backend may serve a network, by its file alone. */
export const BackendSupport = z
  .object({
    backend: Backend,
    reason: z
      .string()
      .nullable()
      .meta({ description: "Why it cannot, with the first operator that stops it; null: it may" }),
  })
  .meta({ id: "BackendSupport" });
export type BackendSupport = z.infer<typeof BackendSupport>;

const Backends = z.array(BackendSupport).default([]).meta({
  description:
    "By the file alone; placements are what calibrations proved. Empty for a file stored before this was known",
});

/** Report of a file's check before an upload. */
export const ModelReport = z
  .object({
    ok: z.boolean().meta({ description: "Whether an upload would be taken" }),
    inputs: z.array(TensorSpec),
    outputs: z.array(TensorSpec),
    edgeParameters: z.number().int().nullable(),
    summary: ModelSummary.nullable().meta({ description: "Null where there are problems" }),
    backends: Backends,
    problems: z.array(z.object({ pointer: z.string(), message: z.string() })),
  })
  .meta({ id: "ModelReport" });
export type ModelReport = z.infer<typeof ModelReport>;

/** The variant that every version begins with: the uploaded file as it is. */
export const FIRST_VARIANT = "fp32";

/** One way to compute a version: the same inputs and outputs by other arithmetic, in a file of its own. */
export const ModelVariant = z
  .object({
    name: Name,
    digest: Digest,
    sizeBytes: z.number().int(),
    fidelity: z.number().min(0).max(1).nullable().meta({
      description:
        "How good its answers are where the version's own file has 1, as its uploader or the job that made it measured it; null: each calibration finds out",
    }),
    summary: Summary,
    recipe: Recipe.nullable().default(null).meta({
      description: "How it was made of the version's own file; null of an upload",
    }),
    measured: MeasuredFidelity.nullable().default(null).meta({
      description: "What its fidelity rests on where a job measured it; null of all others",
    }),
    jobId: idSchema("job").nullable().default(null).meta({ description: "That made it; null of an upload" }),
    createdAt: Instant,
  })
  .meta({ id: "ModelVariant" });
export type ModelVariant = z.infer<typeof ModelVariant>;

/** Samples that a version was not trained on, with their answers: a file as models/README.md describes it. */
export const VersionData = z
  .object({
    digest: Digest,
    sizeBytes: z.number().int(),
    rows: z.number().int(),
    metric: z.string().meta({ description: "What an answer to them is judged by, such as `accuracy`" }),
  })
  .meta({ id: "VersionData" });
export type VersionData = z.infer<typeof VersionData>;

/** One immutable version of a model, addressed by the digest of its bytes. Its variants may become more. */
export const ModelVersion = z
  .object({
    id: idSchema("modelVersion"),
    version: z.number().int().min(1),
    digest: Digest,
    sizeBytes: z.number().int(),
    inputs: z.array(TensorSpec),
    outputs: z.array(TensorSpec),
    edgeParameters: z.number().int().nullable().meta({
      description: "Numbers in weights and biases of a network that the edge can compute by itself; null: it cannot",
    }),
    files: z.array(ModelFile).default([]).meta({
      description: "Of a large model: its files, of which the digest is, if they are several. Empty of all others",
    }),
    variants: z.array(ModelVariant).meta({ description: `The first is \`${FIRST_VARIANT}\`, the version's own file` }),
    summary: Summary,
    backends: Backends,
    card: PolicyCard.nullable()
      .default(null)
      .meta({ description: "Of a policy that was trained or evaluated here; null of all others" }),
    data: VersionData.nullable().default(null).meta({
      description: "What its variants are measured on; null: nothing, so that they are compared with its own file",
    }),
    createdAt: Instant,
  })
  .meta({ id: "ModelVersion" });
export type ModelVersion = z.infer<typeof ModelVersion>;

export const Model = z
  .object({
    id: idSchema("model"),
    name: Name,
    placement: PlacementRule,
    createdAt: Instant,
    versions: z.array(ModelVersion),
  })
  .meta({ id: "Model" });
export type Model = z.infer<typeof Model>;
export const ModelPage = pageOf(Model, "Model");

/** JSON in a query. */
function jsonText<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .max(LIMITS.queryJsonLength)
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "must be JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** Query of an upload: `?name=`; the body is the ONNX file itself. */
export const ModelUploadQuery = z.strictObject({
  name: Name.meta({ description: "Name of the model, new or known" }),
  shapes: jsonText(z.record(z.string(), z.array(Shape).min(1).max(LIMITS.measuredSizes)))
    .optional()
    .meta({
      description:
        'Shapes at which inputs with free dimensions are measured, as JSON: `{"image": [[1,3,128,128],[1,3,384,384]]}`. A free first axis counts rows and is 1. Without them calibrations look for a size that the network takes',
    }),
  values: jsonText(z.record(z.string(), z.array(z.number()).min(1).max(LIMITS.inputValues)))
    .optional()
    .meta({
      description:
        'Numbers that inputs take in measurements where not any will do, as JSON: `{"sampling_rate": [16000]}`',
    }),
});

/** Query of a variant's upload; the body is the ONNX file itself. */
export const VariantUploadQuery = z.strictObject({
  name: Name.meta({ description: "Name of the variant, such as `int8`" }),
  fidelity: z.coerce.number().min(0).max(1).optional().meta({
    description: "As you measured it on data of yours: 1 is as good as the version's own file",
  }),
});

/** Service time as a function of the batch: requests that are computed together. */
export const SweepStep = z.object({ rows: z.number().int().min(1), serviceMs: Distribution }).meta({ id: "SweepStep" });
export type SweepStep = z.infer<typeof SweepStep>;

/** The sweep of batches at a further size of the inputs. */
export const SizeSweep = z
  .object({
    elements: z.number().int().min(1).meta({ description: "Of one row, in all inputs together" }),
    sweep: z.array(SweepStep).min(1),
  })
  .meta({ id: "SizeSweep" });
export type SizeSweep = z.infer<typeof SizeSweep>;

/** Memory of a loaded model, fitted over the sweep: `baseBytes + rows · bytesPerRow`. */
export const MemoryFit = z
  .object({ baseBytes: z.number().min(0), bytesPerRow: z.number().min(0) })
  .meta({ id: "MemoryFit" });
export type MemoryFit = z.infer<typeof MemoryFit>;

export const PlacementState = z.enum(["eligible", "failed"]).meta({ id: "PlacementState" });

/** A variant of a version on a device of a runner by one backend, with what was measured of it. */
export const Placement = z
  .object({
    id: idSchema("placement"),
    modelVersionId: idSchema("modelVersion"),
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    software: z.boolean(),
    variant: z.string(),
    backend: Backend,
    state: PlacementState,
    fidelity: z
      .number()
      .nullable()
      .meta({ description: "1 is as good as the version's own file; null where it failed" }),
    sweep: z.array(SweepStep).min(1).meta({ description: "By batch size, rising from 1" }),
    sizes: z.array(SizeSweep).default([]).meta({ description: "At the further `shapes` of the inputs" }),
    memory: MemoryFit.nullable(),
    loadMs: z.number(),
    linkMs: Distribution,
    configuration: ServingConfiguration,
    validated: z
      .object({
        runId: idSchema("run"),
        at: Instant,
        verdict: z.enum(["pass", "fail", "insufficient"]),
        serviceMs: Distribution.nullable().meta({ description: "Of single queries on the runner, as validated" }),
        requirements: z.array(Requirement),
      })
      .nullable()
      .meta({ description: "Its latest validation under this configuration; null where there is none" }),
    updatedAt: Instant,
  })
  .meta({ id: "Placement" });
export type Placement = z.infer<typeof Placement>;

/** A variant that a calibration could not run on a device. */
export const SkippedPlacement = z
  .object({ deviceKey: z.string(), variant: Name, backend: Backend, problem: Problem })
  .meta({ id: "SkippedPlacement" });
export type SkippedPlacement = z.infer<typeof SkippedPlacement>;

/** The latest calibration of a version on a runner. */
export const LatestCalibration = z
  .object({
    jobId: idSchema("job"),
    runnerId: z.string(),
    modelVersionId: idSchema("modelVersion"),
    state: z.enum(["waiting", "done", "failed"]),
    problem: Problem.nullable().meta({ description: "Why it failed" }),
    skipped: z.array(SkippedPlacement).meta({ description: "Variants that it could not run, by device" }),
    at: Instant.meta({ description: "Its end, or its beginning" }),
  })
  .meta({ id: "LatestCalibration" });
export type LatestCalibration = z.infer<typeof LatestCalibration>;
