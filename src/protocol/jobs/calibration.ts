import { z } from "zod";
import { Distribution } from "../wire/distribution.ts";
import { Environment, targetFields } from "./job-fields.ts";
import { Backend } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { MemoryFit, SizeSweep, SkippedPlacement, SweepStep } from "../models/model.ts";
import { Name } from "../wire/page.ts";
import { Shape } from "../wire/tensor.ts";
import { ServingConfiguration } from "../fleet/serving.ts";

/** Places a model version on a runner: loads, checks and measures every variant by every backend. */
export const calibrationFields = {
  kind: z.literal("calibration"),
  modelVersionId: idSchema("modelVersion"),
  iterations: z.number().int().min(10).max(LIMITS.maxIterations).default(300),
  maxRows: z.number().int().min(1).max(LIMITS.batchRows).default(32).meta({
    description: "Batches are measured in powers of two up to here, while they still gain throughput",
  }),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  ...targetFields,
};
export const CalibrationSpec = z.object(calibrationFields).meta({ id: "CalibrationSpec" });
export type CalibrationSpec = z.infer<typeof CalibrationSpec>;

/** Where the nodes of a network ran, of those that its backend left after it had optimised the network. */
export const NodePlaces = z
  .object({
    onProvider: z.number().int().min(0).meta({ description: "On the backend's own provider" }),
    onCpu: z
      .record(z.string().max(LIMITS.foreignNameLength), z.number().int().min(1))
      .meta({ description: "On ONNX Runtime's CPU provider in its stead: how many, by operator" }),
  })
  .meta({ id: "NodePlaces" });
export type NodePlaces = z.infer<typeof NodePlaces>;

/**
 * One backend's outcome for a variant. `agrees` compares with the CPU provider on seeded inputs, `fidelity`
 * with the version's own file there.
 */
export const CalibratedPlacement = z.object({
  deviceKey: z.string(),
  variant: Name,
  backend: Backend,
  agrees: z.boolean(),
  maxRelativeError: z.number(),
  fidelity: z.number().min(0).max(1),
  loadMs: z.number(),
  /** By batch size, rising from 1. */
  sweep: z.array(SweepStep).min(1).max(LIMITS.sweepSteps),
  /** At the further shapes of the inputs; absent from an older runner. */
  sizes: z.array(SizeSweep).max(LIMITS.measuredSizes).optional(),
  memory: MemoryFit.nullable(),
  /** Of ONNX Runtime on a GPU; absent elsewhere, and from an older runner. */
  nodes: NodePlaces.optional(),
  /** Configuration under measurement; absent: `DEFAULT_CONFIGURATION`. */
  configuration: ServingConfiguration.optional(),
  /** Overhead around the service, where it differs from the runner's link. */
  linkMs: Distribution.optional(),
  environment: Environment,
});
export type CalibratedPlacement = z.infer<typeof CalibratedPlacement>;

export const CalibrationResult = z
  .object({
    kind: z.literal("calibration"),
    modelVersionId: idSchema("modelVersion"),
    placements: z.array(CalibratedPlacement).min(1).max(64),
    /** Shapes of the inputs that the runner found where the version has none, by name. */
    shapes: z.record(z.string(), z.array(Shape).min(1).max(LIMITS.measuredSizes)).optional(),
    /** Inputs that a device, or the CPU provider it is compared with, could not run. */
    skipped: z.array(SkippedPlacement).max(64).optional(),
    /** Runner to edge and back over the socket, on the runner's clock. */
    linkMs: Distribution,
  })
  .meta({ id: "CalibrationResult" });
export type CalibrationResult = z.infer<typeof CalibrationResult>;
