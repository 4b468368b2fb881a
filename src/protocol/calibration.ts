import { z } from "@hono/zod-openapi";
import { Distribution } from "./distribution.ts";
import { Environment } from "./environment.ts";
import { Backend } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { targetFields } from "./job-target.ts";
import { LIMITS } from "./limits.ts";
import { Name } from "./page.ts";

/** Places a model version on a runner: loads it, checks it, measures it. */
export const calibrationFields = {
  kind: z.literal("calibration"),
  modelVersionId: idSchema("modelVersion"),
  iterations: z.number().int().min(10).max(LIMITS.maxIterations).default(300),
  timeoutMs: z.number().int().min(100).max(600_000).default(120_000),
  ...targetFields,
};
export const CalibrationSpec = z.object(calibrationFields).openapi("CalibrationSpec");
export type CalibrationSpec = z.infer<typeof CalibrationSpec>;

/** One backend's outcome for a calibrated version. `agrees` compares with the CPU provider on seeded inputs. */
export const CalibratedPlacement = z.object({
  deviceKey: z.string(),
  variant: Name,
  backend: Backend,
  batch: z.number().int(),
  agrees: z.boolean(),
  maxRelativeError: z.number(),
  loadMs: z.number(),
  serviceMs: Distribution,
  environment: Environment,
});
export type CalibratedPlacement = z.infer<typeof CalibratedPlacement>;

export const CalibrationResult = z
  .object({
    kind: z.literal("calibration"),
    modelVersionId: idSchema("modelVersion"),
    placements: z.array(CalibratedPlacement).min(1).max(64),
    /** Runner to edge and back over the socket, on the runner's clock. */
    linkMs: Distribution,
  })
  .openapi("CalibrationResult");
export type CalibrationResult = z.infer<typeof CalibrationResult>;
