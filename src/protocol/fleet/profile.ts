import { z } from "zod";
import { Backend, InstructionSetName } from "./hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";

/** Requirements that a runner must meet to fit a profile. An absent field means no requirement. */
const ProfileRequirements = z
  .strictObject({
    device: z.enum(["gpu", "cpu"]).optional(),
    allowSoftware: z.boolean().optional(),
    minLogicalCores: z.number().int().min(1).optional(),
    minMemoryBytes: z.number().int().min(1).optional(),
    instructionSets: z.array(InstructionSetName).max(8).optional().meta({ description: "Of its processor" }),
    minGpuMemoryBytes: z.number().int().min(1).optional().meta({
      description: "Of the device; WebGPU does not report it, so a GPU without another source does not fit",
    }),
    features: z.array(z.string().max(64)).max(32).optional(),
  })
  .meta({ id: "ProfileRequirements" });

/** Targets that a placement under this profile should reach. */
const ProfileTargets = z
  .strictObject({
    latencyMs: z.number().positive().optional(),
    percentile: z.number().gt(0).lt(1).optional(),
    throughputRps: z.number().positive().optional(),
    memoryBytes: z.number().int().positive().optional().meta({
      description: "What serving may take at most, on a machine that has as much",
    }),
  })
  .meta({ id: "ProfileTargets" });

const ProfileSettings = z
  .strictObject({
    backends: z.array(Backend).optional(),
    precision: z.enum(["fp32", "fp16", "int8", "int4"]).optional(),
    maxBatch: z.number().int().min(1).max(65_536).optional(),
    threads: z.number().int().min(1).max(LIMITS.intraOpThreads).optional().meta({
      description: "Of one operator on the CPU",
    }),
  })
  .meta({ id: "ProfileSettings" });

const profileFields = {
  name: Name,
  description: z.string().max(512).default(""),
  requirements: ProfileRequirements.default({}),
  targets: ProfileTargets.default({}),
  settings: ProfileSettings.default({}),
};

/** A hardware profile: named requirements and targets. */
export const ProfileInput = z.strictObject(profileFields).meta({ id: "ProfileInput" });
export type ProfileInput = z.infer<typeof ProfileInput>;

export const ProfileUpdate = ProfileInput.omit({ name: true }).meta({ id: "ProfileUpdate" });
export type ProfileUpdate = z.infer<typeof ProfileUpdate>;

export const Profile = z
  .object({
    ...profileFields,
    builtIn: z.boolean(),
    version: z.number().int(),
    updatedAt: Instant.nullable(),
  })
  .meta({ id: "Profile" });
export type Profile = z.infer<typeof Profile>;
export const ProfilePage = pageOf(Profile, "Profile");

const FitCheck = z.object({
  requirement: z.string(),
  wanted: z.string(),
  found: z.string(),
  ok: z.boolean(),
  mend: z.string().nullable().default(null).meta({ description: "What would make it fit; null where it does" }),
});

/** Fit of one runner to one profile, requirement by requirement. */
export const ProfileFit = z
  .object({
    profile: Name,
    fits: z.boolean(),
    deviceKey: z.string().nullable(),
    checks: z.array(FitCheck),
  })
  .meta({ id: "ProfileFit" });
export type ProfileFit = z.infer<typeof ProfileFit>;

/** Check of one profile target against the measurements of a runner. */
export const TargetCheck = z
  .object({
    target: z.enum(["latencyMs", "throughputRps", "memoryBytes"]),
    placementId: idSchema("placement").nullable().meta({ description: "Null where it is about the runner" }),
    subject: z.string().nullable().meta({ description: "`lenet5@1 int8 on cpu by ort-cpu`" }),
    wanted: z.number(),
    measured: z.number().nullable(),
    found: z.string(),
    ok: z.boolean().nullable().meta({ description: "Null where nothing that was measured tells" }),
    mend: z.string().nullable(),
  })
  .meta({ id: "TargetCheck" });
export type TargetCheck = z.infer<typeof TargetCheck>;

/** Fit of one runner to one profile, and how far its placements reach the profile's targets. */
export const RunnerFit = ProfileFit.extend({
  runnerId: idSchema("runner"),
  reaches: z.boolean().nullable().meta({ description: "Every target; null where that is not known of each" }),
  targets: z.array(TargetCheck),
}).meta({ id: "RunnerFit" });
export type RunnerFit = z.infer<typeof RunnerFit>;

/** The profile that a runner is compared with. */
export const RunnerFitQuery = z.strictObject({ profile: Name.meta({ description: "Name of the hardware profile" }) });

const GiB = 2 ** 30;

/** The four profiles that are always there. Their targets are those of the policy-serving guide. */
export const BUILT_IN_PROFILES: readonly ProfileInput[] = [
  {
    name: "high-performance-cpu",
    description: "Many cores and much memory, no GPU needed",
    requirements: { device: "cpu", minLogicalCores: 8, minMemoryBytes: 16 * GiB },
    targets: { latencyMs: 5, percentile: 0.5, throughputRps: 2_000, memoryBytes: 32 * GiB },
    settings: { backends: ["ort-cpu", "cpu-simd"], precision: "fp32", maxBatch: 32, threads: 8 },
  },
  {
    name: "gpu-accelerated",
    description: "A real GPU",
    requirements: { device: "gpu", allowSoftware: false },
    targets: { latencyMs: 3, percentile: 0.5, throughputRps: 5_000, memoryBytes: 64 * GiB },
    settings: { backends: ["wgsl", "ort-webgpu"], precision: "fp16", maxBatch: 128 },
  },
  {
    name: "memory-constrained",
    description: "Small machines: quantised weights, small batches",
    requirements: { minLogicalCores: 1 },
    targets: { latencyMs: 15, percentile: 0.5, throughputRps: 500, memoryBytes: 8 * GiB },
    settings: { backends: ["ort-cpu", "wgsl"], precision: "int8", maxBatch: 8, threads: 1 },
  },
  {
    name: "balanced",
    description: "An ordinary workstation, with a GPU or without",
    requirements: { minLogicalCores: 2, minMemoryBytes: 4 * GiB },
    targets: { latencyMs: 10, percentile: 0.5, throughputRps: 1_000, memoryBytes: 16 * GiB },
    settings: { backends: ["ort-cpu", "wgsl", "ort-webgpu"], precision: "fp32", maxBatch: 32 },
  },
];
