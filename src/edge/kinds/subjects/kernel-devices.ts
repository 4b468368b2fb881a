import type { Capabilities, Device } from "../../../protocol/fleet/hardware.ts";
import type { Environment } from "../../../protocol/jobs/job-fields.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";
import { isKernelId } from "../../store/kernels/kernel-store.ts";
import type { KernelTarget } from "../kind.ts";

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

/** Whether a runner has this device; any runner has one that is not named. */
export function hasDevice({ devices }: Capabilities, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || devices.some(({ key }) => key === deviceKey);
}

/** Whether a result is from the device that its job named. */
export function isFrom({ environment }: { environment: Environment }, deviceKey: string | undefined): boolean {
  return deviceKey === undefined || environment.deviceKey === deviceKey;
}

/** Whether a runner can run a kernel and one of these devices of it, else of the target's, may do so now. */
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
 * Why none of these devices may run a kernel now: for how many milliseconds each of them keeps it in
 * quarantine at least, infinite where there is no device. Null where one may, or a reference would answer.
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
 * Checks that a job's device is one of those that the runners which may take it have for its kernel; where
 * no such runner has connected yet, the job may wait for it.
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
 * Throws `kernel-quarantined` where every device that could take a job keeps its kernel in quarantine:
 * the caller learns at once what it would else wait for.
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

/** A job that needs a kernel waits for a runner; where runners have connected and none has it, it would wait for ever. */
export function checkKernelKnown(kernel: string, announced: readonly Capabilities[]): FieldError[] {
  const isKnown = announced.some(({ kernels }) => kernels.some(({ name }) => name === kernel));
  if (announced.length === 0 || isKnown) return [];
  return [{ pointer: "#/kind", message: `needs the kernel ${kernel}, which no runner has` }];
}
