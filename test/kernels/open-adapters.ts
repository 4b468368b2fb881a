import { pino } from "pino";
import type { EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

/**
 * Starts every adapter of this machine; none is a failure. The software GPU counts as one beside a real one. Their
 * buffers begin poisoned, so that reading unwritten memory fails here, too. Once in a worker: the project's files share
 * their workers, and a device's process ends with its parent.
 */
export function openAdapters(): Promise<readonly DeviceHost[]> {
  return (opened ??= startAdapters());
}

/** The adapters and, for an environment that has a twin there, the CPU: everything that rolls it out. */
export async function openRolloutDevices({
  assembly,
}: Pick<EnvironmentSpec, "assembly">): Promise<readonly DeviceHost[]> {
  if (assembly === undefined) return openAdapters();
  cpu ??= DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...SHARED });
  return [...(await openAdapters()), await cpu];
}

/** Limit of loading or running a network on an emulation. */
const RUN_LIMIT_MS = 240_000;
const SHARED = { cacheDir: CACHE_DIR, logger: pino({ level: "silent" }), runLimitMs: RUN_LIMIT_MS } as const;
let opened: Promise<readonly DeviceHost[]> | undefined;
let cpu: Promise<DeviceHost> | undefined;

async function startAdapters(): Promise<readonly DeviceHost[]> {
  const entry = new URL("poisoned-device.ts", import.meta.url);
  const options = { role: "gpu", deviceKey: "gpu0", entry, ...SHARED } as const;
  const best = await DeviceHost.start(options);
  return best.device.software ? [best] : [best, await DeviceHost.start({ ...options, driver: "software" })];
}
