import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Capabilities, Device } from "../../protocol/hardware.ts";
import type { JobSpec } from "../../protocol/job.ts";
import { isKernelId } from "../store/kernel-store.ts";

/** What of a job says where its kernel may run. */
export type KernelTarget = Pick<BenchmarkSpec, "kernel" | "reference" | "variant" | "deviceKey" | "onDeviceFailure">;

/** Where the kernel that a job runs may run; null of a job that runs none, or is about a model. */
export function kernelTargetOf(spec: JobSpec): KernelTarget | null {
  switch (spec.kind) {
    case "benchmark":
    case "throughput":
    case "tuning":
      return spec;
    case "validation":
      return spec.subject.kind === "kernel" ? { ...spec.subject, deviceKey: spec.deviceKey } : null;
    case "optimisation":
      return spec.subject.kind === "kernel" ? spec.subject : null;
    case "calibration":
    case "probe":
    case "evaluation":
    case "training":
    case "compression":
      return null;
    case "evolution":
      return { kernel: "evolution-step" };
    case "consensus":
      return { kernel: "consensus-tally" };
  }
}

/** The variant that is no WGSL, and the backend of the devices that run it. */
const SIMD = "cpu-simd";

/**
 * The devices of a runner that can run a kernel: the one that is named, else those that run WGSL and have
 * what it needs, or the CPU where it is asked for by variant or nothing else is there. A submitted kernel
 * needs a runner that takes such kernels and can run what it competes with.
 */
export function devicesFor(target: KernelTarget, capabilities: Capabilities): Device[] {
  const { kernel, variant, deviceKey } = target;
  const announced = capabilities.kernels.find(({ name }) => name === kernel);
  if (isKernelId(kernel) ? !takesSubmitted(target, capabilities) : announced === undefined) return [];
  const needed = announced?.features ?? [];
  const wgsl = capabilities.devices.filter(
    ({ backends, features }) => backends.includes("wgsl") && needed.every((feature) => features.includes(feature)),
  );
  const simd = capabilities.devices.filter(
    ({ backends }) => backends.includes(SIMD) && announced?.variants.includes(SIMD),
  );
  if (variant !== undefined) return (variant === SIMD ? simd : wgsl).filter((device) => isNamed(device, deviceKey));
  if (deviceKey !== undefined) return [...wgsl, ...simd].filter((device) => isNamed(device, deviceKey));
  return wgsl.length > 0 ? wgsl : simd;
}

/** Whether a runner can run a kernel, on any of its devices that the target allows. */
export function canRun(target: KernelTarget, capabilities: Capabilities): boolean {
  return devicesFor(target, capabilities).length > 0;
}

function takesSubmitted({ kernel, reference = kernel }: KernelTarget, capabilities: Capabilities): boolean {
  if (capabilities.userKernels !== true) return false;
  return isKernelId(reference) || canRun({ kernel: reference }, capabilities);
}

function isNamed({ key }: Device, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || key === deviceKey;
}

/**
 * Why none of these devices may run a kernel now: for how many milliseconds each of them keeps it in
 * quarantine at least, infinite where there is no device. Null where one may, or a reference would answer.
 */
export function quarantineOf(target: KernelTarget, devices: readonly Device[], nowMs: number): number | null {
  if (devices.length === 0) return Number.POSITIVE_INFINITY;
  if (target.onDeviceFailure === "cpu-reference") return null;
  const leftMs = Math.min(...devices.map((device) => lockedOutForMs(device, target.kernel, nowMs)));
  return leftMs > 0 ? leftMs : null;
}

function lockedOutForMs({ quarantined = [] }: Device, kernel: string, nowMs: number): number {
  const entry = quarantined.find((each) => each.kernel === kernel);
  return entry === undefined ? 0 : Math.max(0, Date.parse(entry.until) - nowMs);
}
