import { z } from "zod";
import { Backend } from "../fleet/hardware.ts";
import { Environment, targetFields } from "./job-fields.ts";
import { idSchema } from "../wire/id.ts";
import { JobArtifact } from "./job-artifact.ts";
import { LIMITS } from "../wire/limits.ts";
import { MeasuredFidelity, Recipe } from "../models/variant.ts";
import { VersionData } from "../models/model.ts";
import { Name } from "../wire/page.ts";

const requestFields = {
  recipe: Recipe,
  timeoutMs: z.number().int().min(1_000).max(LIMITS.compressionMs).default(600_000),
  ...targetFields,
};
const askedFields = {
  version: z.number().int().min(1).optional().meta({ description: "Absent: the latest" }),
  name: Name.optional().meta({ description: "Of the variant; absent: after the recipe, such as `int4-g32`" }),
  ...requestFields,
};
const jobFields = {
  kind: z.literal("compression"),
  model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }),
};

/** A variant as it is asked for under its model: `POST /v1/models/{model}/variants`. */
export const CompressionRequest = z.strictObject(askedFields).meta({ id: "CompressionRequest" });
export type CompressionRequest = z.infer<typeof CompressionRequest>;

/** Makes a smaller variant of a version, measures how good it is, and publishes it. */
export const CompressionInput = z.strictObject({ ...jobFields, ...askedFields });
export const CompressionSpec = z
  .object({
    ...jobFields,
    ...requestFields,
    version: z.number().int().min(1),
    name: Name,
    modelVersionId: idSchema("modelVersion"),
    /** Digest of the version's own file. */
    digest: z.string(),
    /** As it was when the job was asked for. */
    data: VersionData.nullable(),
  })
  .meta({ id: "CompressionSpec" });
export type CompressionSpec = z.infer<typeof CompressionSpec>;

const layerFields = { layer: z.string().max(256), operator: z.string().max(64) };

export const CompressionResult = z
  .object({
    kind: z.literal("compression"),
    model: z.string().meta({ description: "Such as `lenet5@1`" }),
    modelVersionId: idSchema("modelVersion"),
    variant: Name,
    recipe: Recipe,
    chosenEnergy: z.number().nullable().meta({ description: "What a search for `minFidelity` ended at" }),
    calibration: z
      .object({ rows: z.number().int(), distribution: z.string().max(256) })
      .nullable()
      .meta({ description: "What ranges were found on, or a student learned from; null of other recipes" }),
    parentBytes: z.number().int().min(1),
    file: JobArtifact,
    changed: z
      .array(z.object({ ...layerFields, what: z.string().max(256) }))
      .max(LIMITS.compressedLayers)
      .meta({ description: "Layers with what was done to them; of more, the first" }),
    left: z
      .array(z.object({ ...layerFields, why: z.string().max(256) }))
      .max(LIMITS.compressedLayers)
      .meta({ description: "Layers that stayed as they were; of more, the first" }),
    computation: z
      .array(
        z.object({
          backend: Backend,
          layers: z.number().int().min(0).meta({ description: "Layers with weights" }),
          wholeLayers: z
            .number()
            .int()
            .min(0)
            .meta({ description: "Those multiplied in whole numbers; on `wgsl` only where the device is faster so" }),
          how: z.string().max(256),
        }),
      )
      .optional()
      .meta({
        description:
          "How each backend computes the file: in whole numbers or in float32, and why, or why it does not serve it." +
          " Absent from results of older runners",
      }),
    fidelity: MeasuredFidelity,
    publication: z
      .enum(["published", "taken", "full", "unusable"])
      .nullable()
      .meta({ description: "Whether it became a variant: its name may be another file's by now" }),
    environment: Environment,
  })
  .meta({ id: "CompressionResult" });
export type CompressionResult = z.infer<typeof CompressionResult>;
