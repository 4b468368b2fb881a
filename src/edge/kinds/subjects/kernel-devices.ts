import type { Capabilities, Device } from "../../../protocol/fleet/hardware.ts";
import type { Environment } from "../../../protocol/jobs/job-fields.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";
import { isKernelId } from "../../store/kernels/kernel-store.ts";
import type { KernelTarget } from "../kind.ts";

/** The variant without WGSL, and the backend of the devices that run it. */
const SIMD = "cpu-simd";

/**
 * A runner's devices that can run a kernel: the named one, else those that run WGSL and have the needed features. The
 * CPU counts if its variant is requested or there is no other device. A submitted kernel needs a runner that takes such
 * kernels and can run its reference.
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

/** Whether a runner can run a kernel on any of the target's devices. */
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

/** Whether a runner has this device; true for any runner if none is named. */
export function hasDevice({ devices }: Capabilities, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || devices.some(({ key }) => key === deviceKey);
}

/** Whether a result is from the device that its job named. */
export function isFrom({ environment }: { environment: Environment }, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || environment.deviceKey === deviceKey;
}

/** Whether a runner can run a kernel now, on one of the given devices, else of the target's. */
export function canRunNow(
  target: KernelTarget,
  capabilities: Capabilities,
  nowMs: number,
  deviceKeys?: readonly string[],
): boolean {
  const devices =
    deviceKeys === undefined
      ? devicesFor(target, capabilities)
      : deviceKeys.flatMap((deviceKey) => devicesFor({ ...target, deviceKey }, capabilities));
  return quarantineOf(target, devices, nowMs) === null;
}

/**
 * Shortest remaining quarantine of the kernel on these devices, in milliseconds; infinite without a device. Null if a
 * device may run it now, or a reference would answer.
 */
function quarantineOf(target: KernelTarget, devices: readonly Device[], nowMs: number): number | null {
  if (devices.length === 0) return Number.POSITIVE_INFINITY;
  if (target.onDeviceFailure === "cpu-reference") return null;
  const leftMs = Math.min(...devices.map((device) => lockedOutForMs(device, target.kernel, nowMs)));
  return leftMs > 0 ? leftMs : null;
}

function lockedOutForMs({ quarantined = [] }: Device, kernel: string, nowMs: number): number {
  const entry = quarantined.find((each) => each.kernel === kernel);
  return entry === undefined ? 0 : Math.max(0, Date.parse(entry.until) - nowMs);
}

/**
 * Checks that a runner which may take the job has its device for the kernel; if no such runner has connected yet, the
 * job may wait for it.
 */
export function checkDevice(target: KernelTarget, runners: readonly Capabilities[]): FieldError[] {
  if (target.deviceKey === undefined || runners.length === 0) return [];
  if (runners.some((runner) => canRun(target, runner))) return [];
  const { deviceKey: _, ...anywhere } = target;
  const keys = new Set(runners.flatMap((runner) => devicesFor(anywhere, runner)).map(({ key }) => key));
  const known = [...keys].toSorted().join(", ");
  const message = known === "" ? `no device has the kernel ${target.kernel}` : `must be one of: ${known}`;
  return [{ pointer: "#/deviceKey", message }];
}

/**
 * Throws `kernel-quarantined` if every device for a job has its kernel in quarantine, so that the caller learns it at
 * once instead of waiting.
 */
export function refuseQuarantined(target: KernelTarget, runners: readonly Capabilities[], nowMs: number): void {
  const devices = runners.flatMap((runner) => devicesFor(target, runner));
  const leftMs = quarantineOf(target, devices, nowMs);
  if (leftMs === null || !Number.isFinite(leftMs)) return;
  throw new ProblemError(
    "kernel-quarantined",
    `Every device that could run ${target.kernel} keeps it in quarantine: it made them fail too often.`,
    { retryAfterMs: leftMs },
  );
}

/**
 * Rejects a kernel that none of the connected runners has: the job would wait for ever. Without any runner it may wait.
 */
export function checkKernelKnown(kernel: string, announced: readonly Capabilities[]): FieldError[] {
  const isKnown = announced.some(({ kernels }) => kernels.some(({ name }) => name === kernel));
  if (announced.length === 0 || isKnown) return [];
  return [{ pointer: "#/kind", message: `needs the kernel ${kernel}, which no runner has` }];
}
