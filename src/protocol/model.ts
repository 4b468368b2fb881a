import { z } from "@hono/zod-openapi";
import { Distribution } from "./distribution.ts";
import { Backend } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { Instant, Name, pageOf } from "./page.ts";
import { DType } from "./tensor.ts";

/** One input or output of a network; a free dimension is -1. */
export const TensorSpec = z
  .object({ name: z.string(), dtype: DType, shape: z.array(z.number().int().min(-1)) })
  .openapi("TensorSpec");
export type TensorSpec = z.infer<typeof TensorSpec>;

/** One immutable version of a model, addressed by the digest of its bytes. */
export const ModelVersion = z
  .object({
    id: idSchema("modelVersion"),
    version: z.number().int().min(1),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    sizeBytes: z.number().int(),
    inputs: z.array(TensorSpec),
    outputs: z.array(TensorSpec),
    createdAt: Instant,
  })
  .openapi("ModelVersion");
export type ModelVersion = z.infer<typeof ModelVersion>;

export const Model = z
  .object({ id: idSchema("model"), name: Name, createdAt: Instant, versions: z.array(ModelVersion) })
  .openapi("Model");
export type Model = z.infer<typeof Model>;
export const ModelPage = pageOf(Model, "Model");

/** Where the file stands in an upload: `?name=`, the body is the ONNX file itself. */
export const ModelUploadQuery = z.object({ name: Name });

export const PlacementState = z.enum(["eligible", "failed"]).openapi("PlacementState");

/** A version on a device of a runner by one backend, with what was measured of it. */
export const Placement = z
  .object({
    id: idSchema("placement"),
    modelVersionId: idSchema("modelVersion"),
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    software: z.boolean(),
    variant: z.string(),
    backend: Backend,
    batch: z.number().int(),
    state: PlacementState,
    fidelity: z.number().nullable(),
    serviceMs: Distribution,
    linkMs: Distribution,
    updatedAt: Instant,
  })
  .openapi("Placement");
export type Placement = z.infer<typeof Placement>;
