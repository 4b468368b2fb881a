import { z } from "zod";
import { Backend, DeviceKey, Fingerprint } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { Name } from "../wire/page.ts";
import { DType } from "../wire/tensor.ts";

/** Device that a job ran on, and its load: stored with every result. */
export const Environment = z
  .object({
    deviceKey: z.string(),
    deviceName: z.string(),
    software: z.boolean(),
    fingerprint: Fingerprint,
    runnerVersion: z.string(),
    loadAverage: z.number().meta({ description: "One-minute load average when the run began" }),
    otherJobs: z.number().int().meta({ description: "Jobs that ran on the runner at the same time" }),
  })
  .meta({ id: "Environment" });
export type Environment = z.infer<typeof Environment>;

export const ModelName = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: "Name or id of a model or policy; `name@2` names a version" });

const modelFields = {
  kind: z.literal("model"),
  model: ModelName,
  variant: Name.optional().meta({ description: "Absent: as requests would get it" }),
  backend: Backend.exclude(["edge-wasm"]).optional(),
};

const kernelFields = {
  kind: z.literal("kernel"),
  kernel: Name.meta({ description: "A kernel that runners announce" }),
  shape: z.record(z.string(), z.number().int().min(1)).default({}),
  dtype: DType.optional(),
  variant: Name.optional(),
};

/** Subject of a validation or optimisation. */
export const JobSubject = z
  .discriminatedUnion("kind", [z.object(modelFields), z.object(kernelFields)])
  .meta({ id: "JobSubject" });
export type JobSubject = z.infer<typeof JobSubject>;

/** The same as it is asked for: a field that is not known is a mistake. */
export const JobSubjectInput = z
  .discriminatedUnion("kind", [z.strictObject(modelFields), z.strictObject(kernelFields)])
  .meta({ id: "JobSubjectInput" });

/** Runner that may take a job. */
export const targetFields = {
  runnerId: idSchema("runner").optional(),
  profile: Name.optional().meta({ description: "Only runners that fit this hardware profile" }),
  label: Name.optional().meta({ description: "Stored with the series, such as a branch" }),
};

/** Device of that runner, for jobs that run a kernel. */
export const deviceFields = {
  deviceKey: DeviceKey.optional().meta({
    description: "Only this device of the runner; else the one that is likely to be done first",
  }),
};
