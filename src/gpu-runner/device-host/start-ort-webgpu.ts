import type { RunnerConfig } from "../config.ts";
import { toDeviceName } from "../host/hardware/device-names.ts";
import { DeviceHost, type DeviceHostOptions } from "./device-host.ts";
import type { DeviceDescription } from "./messages.ts";

type Shared = Pick<DeviceHostOptions, "cacheDir" | "processBytes" | "logger">;

const DEVICE_KEY = "ort-gpu0";

/**
 * Starts the process in which ONNX Runtime serves models on a GPU by its WebGPU provider, as a device beside that GPU's
 * own.
 * The provider takes the best visible adapter and none can be named, so the device exists only where that adapter is
 * one of these. Null where it is not wanted or does not work.
 */
export async function startOrtWebgpu(
  wanted: RunnerConfig["ortWebgpu"],
  gpus: readonly (Pick<DeviceHost, "device" | "adapters" | "environment"> & { readonly view?: DeviceHost["view"] })[],
  shared: Shared,
): Promise<DeviceHost | null> {
  const gpu = gpus.find(({ device, adapters }) => device.name === toDeviceName(adapters[0] ?? ""));
  if (gpu === undefined || wanted === "off" || (wanted === "auto" && gpu.device.software)) return null;
  const { environment, view } = gpu;
  const known = describeBeside(gpu);
  try {
    return await DeviceHost.start({
      role: "ort-webgpu",
      deviceKey: DEVICE_KEY,
      environment,
      view,
      known,
      ...shared,
    });
  } catch (error) {
    shared.logger.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      "ONNX Runtime has no WebGPU here",
    );
    return null;
  }
}

/** Description of the same adapter through another Dawn, whose version follows from ONNX Runtime's. */
function describeBeside({ device }: Pick<DeviceHost, "device">): DeviceDescription {
  return {
    device: {
      ...device,
      key: DEVICE_KEY,
      fingerprint: { ...device.fingerprint, dawn: null, toggles: [] },
      backends: ["ort-webgpu"],
      features: [],
      limits: {},
      timestampQuantised: null,
      roofline: null,
    },
    kernels: [],
    kernelDigests: {},
    adapters: [],
  };
}
