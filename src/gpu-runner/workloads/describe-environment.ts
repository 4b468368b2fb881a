import { loadavg } from "node:os";
import type { Device } from "../../protocol/hardware.ts";
import type { Environment } from "../../protocol/environment.ts";
import { VERSION } from "../../protocol/version.ts";

/** What a result is stored with, as it is at the moment of asking. */
export function describeEnvironment(device: Device, otherJobs: number): Environment {
  return {
    deviceKey: device.key,
    deviceName: device.name,
    software: device.software,
    fingerprint: device.fingerprint,
    runnerVersion: VERSION,
    loadAverage: loadavg()[0] ?? 0,
    otherJobs,
  };
}
