import { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { type Problem, toProblem } from "../../protocol/wire/problem.ts";
import type { RunnerConfig } from "../config.ts";
import { DeviceHost, type DeviceHostOptions } from "../device-host/device-host.ts";
import type { DeviceDescription } from "../device-host/messages.ts";
import { GPU_PROVIDERS, isForHere, type ProviderDevice, type Sight } from "./gpu-providers.ts";

type Shared = Pick<DeviceHostOptions, "cacheDir" | "processBytes" | "runLimitMs" | "logger"> & Pick<Sight, "linkDir">;

const NOT_HERE = "a provider of ONNX Runtime does not work here";

/** A provider that has no device here, or one of whose devices does not work. */
export interface AbsentProvider {
  readonly backend: OrtGpuBackend;
  readonly reason: string;
  /** Whether it was to work here: its setting is `on`, or something of it is installed. */
  readonly isMissed: boolean;
  /** The problem of its process, where one was started. */
  readonly problem: Problem | null;
}

export interface StartedProviders {
  readonly hosts: readonly DeviceHost[];
  readonly absent: readonly AbsentProvider[];
}

/**
 * Starts a process for every device of ONNX Runtime's providers that is wanted and found, each as a device beside the
 * GPU's own. What does not work here is left out with its reason, which is logged where it was to work; nothing is tried
 * on the CPU in its stead. With `linkDir`, nothing is written beside installed libraries.
 */
export async function startProviders(
  { providers, tf32, gpu }: Pick<RunnerConfig, "providers" | "tf32" | "gpu">,
  gpus: Sight["gpus"],
  { linkDir, ...shared }: Shared,
): Promise<StartedProviders> {
  const found = await Promise.all(
    OrtGpuBackend.options.map(async (backend) => {
      const [provider, wanted] = [GPU_PROVIDERS[backend], providers[backend]];
      if (!isForHere(provider)) {
        return [
          { backend, reason: `there is none for ${process.platform} ${process.arch}`, isMissed: wanted === "on" },
        ];
      }
      if (wanted === "off") return [{ backend, reason: "it is off", isMissed: false }];
      try {
        const devices = await provider.find({ wanted, tf32, gpu, gpus, dataDir: shared.cacheDir, linkDir });
        if (typeof devices !== "string") return devices.map((device) => ({ backend, device }));
        return [{ backend, reason: devices, isMissed: wanted === "on" }];
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return [{ backend, reason, isMissed: true }];
      }
    }),
  );
  // The rest of a runner's devices are the CPU and its GPUs.
  let room = LIMITS.devices - 1 - gpus.length;
  const started = await Promise.all(
    found.flat().map(async (each): Promise<StartedProviders> => {
      if ("device" in each && room-- > 0) return startDevice(each.backend, each.device, shared);
      const tooMany = { reason: `a runner has ${LIMITS.devices} devices at most`, isMissed: true };
      const { backend, reason, isMissed } = { ...tooMany, ...each };
      if (isMissed) shared.logger.warn({ backend, reason }, NOT_HERE);
      return { hosts: [], absent: [{ backend, reason, isMissed, problem: null }] };
    }),
  );
  return { hosts: started.flatMap(({ hosts }) => hosts), absent: started.flatMap(({ absent }) => absent) };
}

async function startDevice(
  backend: OrtGpuBackend,
  { deviceKey, deviceId, libraries, environment, view, device }: ProviderDevice,
  shared: Omit<Shared, "linkDir">,
): Promise<StartedProviders> {
  const known: DeviceDescription = {
    device: {
      ...device,
      key: deviceKey,
      backends: [backend],
      features: [],
      limits: {},
      timestampQuantised: null,
      roofline: null,
    },
    kernels: [],
    kernelDigests: {},
    adapters: [],
  };
  const own = { ...(deviceId !== undefined && { deviceId }), ...(libraries !== undefined && { libraries }) };
  try {
    return {
      hosts: [await DeviceHost.start({ role: backend, deviceKey, environment, view, known, ...own, ...shared })],
      absent: [],
    };
  } catch (error) {
    const problem = toProblem(error);
    const reason = problem.detail ?? problem.title;
    shared.logger.warn({ backend, deviceKey, reason }, NOT_HERE);
    return { hosts: [], absent: [{ backend, reason, isMissed: true, problem }] };
  }
}
