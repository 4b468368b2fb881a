import { pino } from "pino";
import { afterAll, beforeAll } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import type { Check, Part } from "../../../src/gpu-runner/device-suite/check.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

/** Starts the software GPU's process and the processor's for a file's tests; returns how to run a part on them. */
export function usePart(): (part: Part, done?: readonly string[]) => Promise<Check[]> {
  let hosts: DeviceHost[] = [];
  beforeAll(async () => {
    const shared = { cacheDir: CACHE_DIR, logger: pino({ level: "silent" }) };
    hosts = await Promise.all([
      DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: "software", ...shared }),
      DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
    ]);
  });
  afterAll(() => Promise.all(hosts.map((host) => host.stop())));
  return (part, done = []) => {
    const [host, cpu] = hosts as [DeviceHost, DeviceHost];
    const { signal } = new AbortController();
    return Array.fromAsync(part({ host, cpu, signal, say: () => {}, done: (name) => done.includes(name) }));
  };
}
