import type { RunnerConfig } from "../config.ts";
import { isSoftwareAdapter, toDeviceName } from "../host/hardware/device-names.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { DeviceHost, type DeviceHostOptions } from "./device-host.ts";

type Shared = Omit<DeviceHostOptions, "role" | "deviceKey" | "driver" | "adapter">;
type Wanted = Pick<DeviceHostOptions, "driver" | "adapter">;

/**
 * A GPU's process starts in about a second. SwiftShader's held 294 to 663 MB after the first run of `npm start`, most
 * of it compiled programs (two cores of an AMD EPYC, 2026-11-27).
 */
const REST_AFTER_MS = 60_000;

/**
 * Starts a process for every GPU, with the keys `gpu0`, `gpu1` and so on. With `auto` these are the adapters of the
 * machine's own drivers, the best one first, or the software GPU where there is none.
 * Otherwise the list names them. Adapters that cannot be opened are left out.
 */
export async function startGpus(gpu: RunnerConfig["gpu"], shared: Shared): Promise<DeviceHost[]> {
  if (gpu !== "auto") {
    const wanted = gpu.map((entry): Wanted =>
      entry === "software" ? { driver: "software" } : { driver: "own", adapter: entry },
    );
    const hosts = await Promise.all(wanted.map((each, index) => startGpu(index, each, shared)));
    return hosts.filter((host) => host !== null);
  }
  const first = await startGpu(0, { driver: "auto" }, shared);
  if (first === null || first.device.software) return first === null ? [] : [first];
  const others = first.adapters
    .filter((name) => !isSoftwareAdapter(name) && toDeviceName(name) !== first.device.name)
    .slice(0, LIMITS.devices - 3);
  const hosts = await Promise.all(
    others.map(async (adapter, index) => {
      const host = await startGpu(index + 1, { driver: "own", adapter }, shared);
      if (host === null || host.device.name === toDeviceName(adapter)) return host;
      // The bindings open the first adapter whose name contains this one.
      shared.logger.warn({ adapter, opened: host.device.name }, "an adapter cannot be told from another one");
      await host.stop();
      return null;
    }),
  );
  return [first, ...hosts.filter((host) => host !== null)];
}

async function startGpu(index: number, wanted: Wanted, shared: Shared): Promise<DeviceHost | null> {
  try {
    const own = { role: "gpu", deviceKey: `gpu${index}`, restAfterMs: REST_AFTER_MS } as const;
    return await DeviceHost.start({ ...own, ...wanted, ...shared });
  } catch (error) {
    shared.logger.warn({ error, ...wanted }, "a GPU could not be opened");
    return null;
  }
}
