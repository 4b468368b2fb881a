import { cpus } from "node:os";
import { delimiter } from "node:path";
import type { GpuBoard } from "../host/sensors/gpu-board.ts";
import { NvidiaSmi } from "../host/sensors/nvidia-smi.ts";
import { toDeviceName } from "../host/hardware/device-names.ts";
import type { ProviderDevice, Sight } from "./gpu-providers.ts";
import { findInstalled, linkRuntime } from "./installed-provider.ts";

/**
 * Every card that CUDA may use, a process each. Cards are numbered by their place on the bus, as nvidia-smi numbers
 * them; CUDA's own order is by speed. Factors of float32 are not rounded unless TF32 is asked for: the binding has no
 * option for it, so NVIDIA's libraries are told by their own variable. A device's toggles tell which it is.
 * Source: CUDA C++ Programming Guide, environment variables; cuBLAS, NVIDIA_TF32_OVERRIDE.
 */
export async function findCudaCards({ gpus, tf32, dataDir }: Sight): Promise<readonly ProviderDevice[] | string> {
  const installed = await findInstalled(dataDir, "ort-cuda");
  if (typeof installed === "string") return installed;
  const { folder, ort, cuda, libraries } = installed;
  await linkRuntime(folder);
  const environment = {
    ...gpus[0]?.environment,
    // The runtime looks for a provider's libraries beside its own, which the loader takes from here.
    LD_LIBRARY_PATH: [folder, process.env["LD_LIBRARY_PATH"]].filter(Boolean).join(delimiter),
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    ...(!tf32 && { NVIDIA_TF32_OVERRIDE: "0" }),
  };
  const boards = listVisible(await new NvidiaSmi().read(performance.now()), process.env["CUDA_VISIBLE_DEVICES"]);
  // A machine without NVIDIA's program may have a card all the same; what is missing, its process finds.
  const cards = boards.length > 0 ? boards : [null];
  return cards.map((board, deviceId) => {
    const name = board?.name ?? "NVIDIA GPU";
    const { driver = null } = gpus.find(({ device }) => device.name === toDeviceName(name))?.device.fingerprint ?? {};
    return {
      deviceKey: `cuda${deviceId}`,
      deviceId,
      libraries,
      environment,
      device: {
        kind: "gpu",
        name: toDeviceName(name),
        software: false,
        fingerprint: {
          adapter: `nvidia ${name}`,
          driver,
          dawn: null,
          toggles: [`cuda=${cuda}`, `tf32=${tf32 ? "on" : "off"}`],
          ort: `onnxruntime-node ${ort}`,
          cpu: cpus()[0]?.model.trim() ?? "unknown",
        },
        memoryBytes: board?.memoryBytes ?? null,
      },
    };
  });
}

/**
 * Cards in CUDA's numbers: all, or those that `CUDA_VISIBLE_DEVICES` names by number or by the beginning of a UUID, up to
 * the first that is none.
 */
export function listVisible(boards: readonly GpuBoard[], visible: string | undefined): readonly GpuBoard[] {
  if (visible === undefined) return boards;
  const named = visible.split(",").map((entry) => {
    const text = entry.trim();
    return /^\d+$/.test(text) ? boards[Number(text)] : boards.find(({ uuid }) => text !== "" && uuid?.startsWith(text));
  });
  const end = named.indexOf(undefined);
  return named.slice(0, end < 0 ? named.length : end).filter((board) => board !== undefined);
}
