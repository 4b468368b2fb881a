import { z } from "zod";
import { Backend, DeviceKey, Fingerprint, GpuBoard } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { DType } from "../wire/tensor.ts";

/** The card behind a device, where the runner knows it: unlike the fingerprint it differs between equal cards. */
const cardFields = {
  uuid: GpuBoard.shape.uuid.optional(),
  pciAddress: GpuBoard.shape.pciAddress,
};

/** Device that a job ran on, and its load: stored with every result. */
export const Environment = z
  .object({
    deviceKey: z.string(),
    deviceName: z.string(),
    ...cardFields,
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

/** GPUs of that runner which share a job. */
export const sharingFields = {
  devices: z
    .union([z.literal("all"), z.array(DeviceKey).min(1).max(LIMITS.devices)])
    .optional()
    .meta({ description: "GPUs of the runner that share the members, or `all` of them; absent: one device" }),
};

/** Fields of one of several devices that shared a job. */
export const sharerFields = { deviceKey: DeviceKey, deviceName: z.string(), ...cardFields };

/** What one of several devices did of the rollouts that they shared. */
export const DeviceShare = z
  .object({
    ...sharerFields,
    evaluations: z.number().int().meta({ description: "Episodes" }),
    steps: z.number().int(),
    durationMs: z.number().meta({ description: "Of its rollouts, on its process's clock" }),
    stepsPerSecond: z.number(),
  })
  .meta({ id: "DeviceShare" });
export type DeviceShare = z.infer<typeof DeviceShare>;
