import { DeviceChild } from "../src/gpu-runner/device-host/device-child.ts";
import { installSoftwareGpu } from "../src/gpu-runner/devices/gpu/software-gpu.ts";
import type { Device } from "../src/protocol/fleet/hardware.ts";
import { pino } from "pino";
import { fileURLToPath } from "node:url";

/** The adapter that a runner would use here, and the environment in which any process finds it. */
export interface Adapter {
  readonly device: Device;
  readonly environment: Readonly<Record<string, string>>;
}

/** Folder of the benches' unpacked software GPU; kept between runs. */
export const CACHE_DIR = fileURLToPath(new URL("../node_modules/.cache/millrace", import.meta.url));
const LIMIT = { limitMs: 30_000, limitCode: "device-lost" } as const;

/** The machine's own drivers first, then the software GPU; throws where neither opens. */
export async function openAdapter(): Promise<Adapter> {
  return describe({}).catch(async () => describe(await installSoftwareGpu(CACHE_DIR)));
}

/** Every adapter here: the best of the machine's own drivers, and the software GPU where that is another one. */
export async function openAdapters(): Promise<Adapter[]> {
  const found = await Promise.all([
    describe({}).catch(() => null),
    installSoftwareGpu(CACHE_DIR)
      .then(describe)
      .catch(() => null),
  ]);
  const adapters = found.filter((adapter) => adapter !== null);
  return adapters.filter(
    ({ device }, index) => adapters.findIndex((other) => other.device.name === device.name) === index,
  );
}

async function describe(environment: Readonly<Record<string, string>>): Promise<Adapter> {
  const deviceKey = "gpu0";
  const logger = pino({ level: "silent" });
  const child = new DeviceChild({ role: "gpu", deviceKey, environment, logger, onEnd: () => {} });
  try {
    const { device } = await child.call("describe", { deviceKey }, LIMIT);
    return { device, environment };
  } finally {
    child.kill();
    await child.exited;
  }
}
