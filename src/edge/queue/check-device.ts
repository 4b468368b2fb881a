import type { Capabilities } from "../../protocol/hardware.ts";
import { type FieldError, ProblemError } from "../../protocol/problem.ts";
import { canRun, devicesFor, type KernelTarget, quarantineOf } from "./kernel-devices.ts";

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
