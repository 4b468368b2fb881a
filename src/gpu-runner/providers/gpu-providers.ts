import type { Device, OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import type { RunnerConfig } from "../config.ts";
import type { DeviceHost, DeviceHostOptions } from "../device-host/device-host.ts";
import type { OrtProviderOptions } from "../devices/ort/ort-backend.ts";
import { toDeviceName } from "../host/hardware/device-names.ts";
import { findCudaCards } from "./cuda-cards.ts";

/** What a provider's devices are found by. */
export interface Sight {
  readonly wanted: RunnerConfig["providers"][OrtGpuBackend];
  /** Accelerate products of float32 by rounding their factors to 10 bits of mantissa. */
  readonly tf32: boolean;
  /** GPUs that Dawn opened. */
  readonly gpus: readonly (Pick<DeviceHost, "device" | "adapters" | "environment"> & {
    readonly view?: DeviceHost["view"];
  })[];
  /** The runner's setting of GPUs; a provider that is `auto` keeps to it. */
  readonly gpu: RunnerConfig["gpu"];
  /** Folder with what was installed. */
  readonly dataDir: string;
  /** Folder for links to libraries; undefined: beside them. */
  readonly linkDir?: string | undefined;
}

/** One device of a provider, before its process is started. */
export interface ProviderDevice extends Pick<DeviceHostOptions, "deviceId" | "libraries" | "view"> {
  /** Unique on the runner. */
  readonly deviceKey: string;
  /** Nothing else describes it: the runtime does not say which card it took. */
  readonly device: Omit<Device, "key" | "backends" | "features" | "limits" | "timestampQuantised" | "roofline">;
  /** Variables by which the process finds driver and libraries; undefined ones are taken from it. */
  readonly environment: Readonly<NodeJS.Dict<string>>;
}

/** One of ONNX Runtime's providers on GPUs. */
export interface GpuProvider {
  /** Platforms and architectures as Node names them; null: all for which there is a runtime. */
  readonly platforms: readonly string[] | null;
  /** Whether its libraries come by `millrace runner providers install`, since the package lacks them. */
  readonly isInstalled: boolean;
  /** Options of a session on one of its devices. */
  readonly optionsOf: (deviceId: number) => OrtProviderOptions;
  /** Its devices here, or why there is none. Fails where it is installed and cannot be used. */
  readonly find: (sight: Sight) => Promise<readonly ProviderDevice[] | string>;
}

/**
 * Every provider that a runner serves models by. Another one is an entry here, and a name in `OrtGpuBackend`. DirectML is
 * not developed further, and the binding does not carry TensorRT.
 */
export const GPU_PROVIDERS: Readonly<Record<OrtGpuBackend, GpuProvider>> = {
  "ort-webgpu": {
    platforms: null,
    isInstalled: false,
    optionsOf: () => "webgpu",
    find: async (sight) => {
      if (sight.gpus.length === 0) return "there is no GPU";
      // It takes the best visible adapter, and none can be named.
      const gpu = sight.gpus.find(({ device, adapters }) => device.name === toDeviceName(adapters[0] ?? ""));
      if (gpu === undefined) return "ONNX Runtime takes the driver's best adapter, which the runner did not open";
      return findBeside(gpu, "ort-gpu0", sight);
    },
  },
  "ort-cuda": {
    platforms: ["linux x64"],
    isInstalled: true,
    optionsOf: (deviceId) => ({ name: "cuda", deviceId }),
    find: (sight) => findCudaCards(sight),
  },
  "ort-coreml": {
    platforms: ["darwin arm64"],
    isInstalled: false,
    optionsOf: () => "coreml",
    find: async (sight) => {
      // Core ML itself spreads a network over GPU, neural engine and CPU.
      const [gpu] = sight.gpus;
      return gpu === undefined ? "there is no GPU" : findBeside(gpu, "coreml0", sight);
    },
  },
};

/** Whether a provider exists for this platform. */
export function isForHere({ platforms }: Pick<GpuProvider, "platforms">): boolean {
  return platforms === null || platforms.includes(`${process.platform} ${process.arch}`);
}

/** The same adapter as that of a GPU by Dawn, by another driver or another Dawn, whose version follows from ONNX Runtime's. */
function findBeside(
  { device, environment, view }: Sight["gpus"][number],
  deviceKey: string,
  { wanted }: Sight,
): readonly ProviderDevice[] | string {
  if (wanted === "auto" && device.software) return "ONNX Runtime serves no emulated GPU unless it is told to";
  const fingerprint = { ...device.fingerprint, dawn: null, toggles: [] };
  return [{ deviceKey, device: { ...device, fingerprint }, environment, view }];
}
