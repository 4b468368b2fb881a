import { loadavg } from "node:os";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { RunSamples } from "../../../protocol/history/run.ts";
import type { Environment } from "../../../protocol/jobs/job-fields.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { VERSION } from "../../../protocol/wire/release.ts";

/** Environment to store with a result, as of now. */
export function describeEnvironment(device: Device, otherJobs: number): Environment {
  return {
    deviceKey: device.key,
    deviceName: device.name,
    ...describeCard(device),
    software: device.software,
    fingerprint: device.fingerprint,
    runnerVersion: VERSION,
    loadAverage: loadavg()[0] ?? 0,
    otherJobs,
  };
}

/** Identity of a device's card, where it is known. */
export function describeCard({ board }: Pick<Device, "board">): Pick<Environment, "uuid" | "pciAddress"> {
  const { uuid = null, pciAddress = null } = board ?? {};
  return { ...(uuid !== null && { uuid }), ...(pciAddress !== null && { pciAddress }) };
}

/** Value of a promise or the device's problem; an aborted signal is still thrown. */
export async function orProblem<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | ProblemError> {
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

type Timed = Pick<RunSamples["measurements"][number], "metric" | "clock"> & {
  readonly valuesMs: ArrayLike<number> | null;
};

/** Timed samples of a kernel's run as JSON beside its result; null where that would exceed the limit. */
export function writeSamples(subject: string, timed: readonly Timed[]): string | null {
  const measurements = timed.flatMap(({ metric, clock, valuesMs }) =>
    valuesMs === null ? [] : [{ subject, metric, unit: "ms", clock, values: Array.from(valuesMs) }],
  );
  const samples: RunSamples = { measurements };
  const text = JSON.stringify(samples);
  return Buffer.byteLength(text) > LIMITS.samplesBytes ? null : text;
}
