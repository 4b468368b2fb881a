import { z } from "zod";
import { createContentId } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { Problem } from "../wire/problem.ts";
import { DType } from "../wire/tensor.ts";
import { RolloutEnvironment } from "./rollout-environment.ts";
import { Roofline } from "./roofline.ts";

/** ONNX Runtime's providers on GPUs: each is a device of its own, beside the GPU's. */
export const OrtGpuBackend = z.enum(["ort-webgpu", "ort-cuda", "ort-coreml"]);
export type OrtGpuBackend = z.infer<typeof OrtGpuBackend>;

/** Program that executes a model or kernel. */
export const Backend = z
  .enum(["wgsl", ...OrtGpuBackend.options, "ort-cpu", "cpu-simd", "edge-wasm"])
  .meta({ id: "Backend" });
export type Backend = z.infer<typeof Backend>;

/** A name that a driver, an operating system or a program gives itself. */
const name = z.string().max(LIMITS.foreignNameLength);

/** Everything that changes what a measurement means: another value, another series. */
export const Fingerprint = z
  .object({
    adapter: name.nullable(),
    driver: name.nullable(),
    dawn: name.nullable(),
    toggles: z.array(name).max(LIMITS.deviceFeatures),
    ort: name.nullable(),
    cpu: name,
  })
  .refine((fingerprint) => JSON.stringify(fingerprint).length <= LIMITS.fingerprintLength, "is too long")
  .meta({ id: "Fingerprint" });
export type Fingerprint = z.infer<typeof Fingerprint>;

/** Key of a device: unique on its runner. */
export const DeviceKey = z.string().min(1).max(LIMITS.deviceKeyLength).meta({ description: "`gpu0`, `cpu`" });

/** A kernel that failed on a device again and again: until then it is not run there, and jobs go elsewhere. */
export const QuarantinedKernel = z
  .object({
    kernel: z.string().max(LIMITS.nameLength),
    /** Problem code of the last failure. */
    code: Problem.shape.code,
    failures: z.number().int().min(1),
    until: Instant,
  })
  .meta({ id: "QuarantinedKernel" });
export type QuarantinedKernel = z.infer<typeof QuarantinedKernel>;

/** The card behind a GPU, as reported by its driver or the system's files; unknown values are null. */
export const GpuBoard = z
  .object({
    name: name.nullable(),
    uuid: z.string().max(128).nullable(),
    pciAddress: z.string().max(32).nullable().optional().meta({ description: "`0000:41:00.0`" }),
    matchedBy: z
      .enum(["address", "name", "order"])
      .optional()
      .meta({ description: "How the card was found for the GPU: only the address is certain where cards are equal" }),
    memoryBytes: z.number().nullable(),
    maxClockMhz: z.number().nullable(),
    maxMemoryClockMhz: z.number().nullable(),
    powerLimitW: z.number().nullable(),
    source: z.string().max(64).meta({ description: "`nvidia-smi` or `sysfs`" }),
  })
  .meta({ id: "GpuBoard" });
export type GpuBoard = z.infer<typeof GpuBoard>;

/** One adapter, or the CPU, of a runner. A `software` device is an emulation and never compared with a GPU. */
export const Device = z
  .object({
    key: DeviceKey,
    kind: z.enum(["gpu", "cpu"]),
    name,
    software: z.boolean(),
    fingerprint: Fingerprint,
    backends: z.array(Backend).max(Backend.options.length),
    servesModels: z
      .boolean()
      .optional()
      .meta({ description: "Whether models run by `wgsl` on a GPU; those of ONNX Runtime always serve some" }),
    features: z.array(name).max(LIMITS.deviceFeatures),
    limits: z
      .record(name, z.number())
      .refine(
        (limits) => Object.keys(limits).length <= LIMITS.deviceFeatures,
        `at most ${LIMITS.deviceFeatures} limits`,
      ),
    memoryBytes: z.number().nullable(),
    board: GpuBoard.optional().meta({ description: "Absent where no source reports it" }),
    timestampQuantised: z
      .boolean()
      .nullable()
      .meta({ description: "True where GPU timestamps come in steps too coarse to trust; null without timestamps" }),
    roofline: Roofline.nullable()
      .default(null)
      .meta({ description: "Null until the device's first benchmark, which is when its roofs are measured" }),
    /** Absent where there is none. */
    quarantined: z.array(QuarantinedKernel).max(LIMITS.quarantinedKernels).optional(),
  })
  .meta({ id: "Device" });
export type Device = z.infer<typeof Device>;

/** Kinds of instructions that compute several numbers at once, or products of matrices. */
export const InstructionSetName = z
  .enum(["SSE4", "AVX", "AVX2", "AVX-512", "AMX", "NEON", "SVE", "SVE2"])
  .meta({ id: "InstructionSetName" });
export type InstructionSetName = z.infer<typeof InstructionSetName>;

/** One of them that a processor has, with those of its extensions that stand apart, such as `VNNI`. */
const InstructionSet = z.object({ name: InstructionSetName, parts: z.array(z.string().max(32)).max(32) });
export type InstructionSet = z.infer<typeof InstructionSet>;

const CpuCache = z.object({
  level: z.number().int(),
  kind: z.enum(["data", "instruction", "unified"]),
  sizeBytes: z.number(),
  sharedBy: z.number().int().min(1).meta({ description: "Logical cores that share it" }),
});
export type CpuCache = z.infer<typeof CpuCache>;

/** The machine around the devices. */
export const Hardware = z
  .object({
    hostname: name,
    os: name,
    arch: name,
    cpu: z.object({
      model: name,
      physicalCores: z.number().int(),
      logicalCores: z.number().int(),
      speedGhz: z.number().nullable(),
      features: z.array(name).max(LIMITS.cpuFeatures),
      instructionSets: z.array(InstructionSet).max(InstructionSetName.options.length).optional(),
      caches: z.array(CpuCache).max(16).optional().meta({ description: "Of the first core" }),
      baseClockMhz: z.number().nullable().optional(),
      maxClockMhz: z.number().nullable().optional(),
    }),
    memoryBytes: z.number().int(),
    container: z
      .object({ cores: z.number().positive().nullable(), memoryBytes: z.number().nullable() })
      .optional()
      .meta({ description: "What the runner may use of the machine; null: all of it" }),
    virtual: z.boolean(),
    node: name,
  })
  .refine((hardware) => JSON.stringify(hardware).length <= LIMITS.hardwareLength, "is too long")
  .meta({ id: "Hardware" });
export type Hardware = z.infer<typeof Hardware>;

const description = z.string().max(LIMITS.announcedTextLength);

/** One size that a kernel's caller chooses, with its bounds. */
export const KernelDimension = z.object({
  name,
  description,
  min: z.number().int(),
  max: z.number().int(),
  default: z.number().int(),
});

/** A storage buffer of a kernel; rows are padded to the alignment on the device. */
const AnnouncedBinding = z.object({
  name,
  access: z.enum(["read", "write", "scratch"]),
  dtype: DType,
  alignment: z.array(z.number().int()).max(LIMITS.kernelDimensions),
});

const TuningAxis = z.object({ name, values: z.array(z.number()).max(LIMITS.announcedParts), default: z.number() });

/** A kernel as a runner announces it; the edge knows kernels only so. */
export const KernelAnnouncement = z
  .object({
    name: z.string().max(LIMITS.nameLength),
    description,
    dimensions: z.array(KernelDimension).max(LIMITS.announcedParts),
    /** The dimension that counts independent items; absent where there is none. */
    batchDimension: name.optional(),
    dtypes: z.array(DType).max(LIMITS.announcedParts),
    features: z
      .array(name)
      .max(LIMITS.announcedParts)
      .optional()
      .meta({ description: "WebGPU features that a device needs for it; absent: none" }),
    variants: z.array(name).max(LIMITS.announcedParts),
    bindings: z.array(AnnouncedBinding).max(LIMITS.announcedParts).optional(),
    axes: z
      .record(name, z.array(TuningAxis).max(LIMITS.announcedParts))
      .optional()
      .meta({ description: "Tuning axes by variant" }),
  })
  .meta({ id: "Kernel" });
export type KernelAnnouncement = z.infer<typeof KernelAnnouncement>;

/** Description of a runner that it sends when it connects. */
export const Capabilities = z
  .object({
    version: name,
    hardware: Hardware,
    devices: z.array(Device).max(LIMITS.devices),
    kernels: z.array(KernelAnnouncement).max(256),
    environments: z
      .array(RolloutEnvironment)
      .max(256)
      .optional()
      .meta({ description: "That it evaluates policies in; absent from an older runner: none" }),
    jobSlots: z.number().int().min(1).max(64),
    userKernels: z
      .boolean()
      .optional()
      .meta({ description: "Takes benchmarks of submitted kernels, whose program comes with the offer" }),
    sharesJobs: z
      .boolean()
      .optional()
      .meta({ description: "Has several GPUs share a job that names `devices`; absent from an older runner: no" }),
    direct: z
      .object({ url: z.url({ protocol: /^https?$/ }).max(LIMITS.urlLength) })
      .optional()
      .meta({ description: "Where it takes inferences with a ticket; absent: it has no listener" }),
  })
  .meta({ id: "Capabilities" });
export type Capabilities = z.infer<typeof Capabilities>;

/** A fingerprint as text: equal ones have equal text, whatever the order of their fields. */
export function fingerprintText(fingerprint: Fingerprint): string {
  const { adapter, driver, dawn, toggles, ort, cpu } = fingerprint;
  return JSON.stringify([adapter, driver, dawn, toggles, ort, cpu]);
}

/** Id of a fingerprint: what a device is called where several runners have the same. */
export function fingerprintIdOf(fingerprint: Fingerprint): Promise<string> {
  return createContentId("fingerprint", fingerprintText(fingerprint));
}

/** Backends that compute on a GPU, unless it is an emulation. */
export const GPU_BACKENDS: ReadonlySet<Backend> = new Set(["wgsl", ...OrtGpuBackend.options]);

/** ONNX Runtime's provider on a GPU that a device is; undefined of others. */
export function ortGpuBackendOf({ backends }: Pick<Device, "backends">): OrtGpuBackend | undefined {
  return OrtGpuBackend.options.find((backend) => backends.includes(backend));
}

const MODEL_BACKENDS: ReadonlySet<Backend> = new Set(["ort-cpu", ...OrtGpuBackend.options]);

/** Backend that runs models on a device; undefined where it serves none. Kernels run by `wgsl` on every GPU. */
export function modelBackendOf({
  backends,
  servesModels = false,
}: Pick<Device, "backends" | "servesModels">): Backend | undefined {
  return backends.find((backend) => MODEL_BACKENDS.has(backend) || (backend === "wgsl" && servesModels));
}
