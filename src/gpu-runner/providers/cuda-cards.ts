import { cpus } from "node:os";
import { delimiter } from "node:path";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { describeBoard, type GpuBoard, toPciAddress } from "../host/sensors/gpu-board.ts";
import { NvidiaSmi } from "../host/sensors/nvidia-smi.ts";
import { toDeviceName } from "../host/hardware/device-names.ts";
import type { ProviderDevice, Sight } from "./gpu-providers.ts";
import { findInstalled, linkRuntime } from "./installed-provider.ts";

/** A card that nothing describes. */
const UNNAMED = "NVIDIA GPU";

/**
 * Every card that CUDA may use, a process each. Cards are numbered by their place on the bus, as nvidia-smi numbers
 * them; CUDA's own order is by speed. Factors of float32 are not rounded unless TF32 is asked for: the binding has no
 * option for it, so the process has the variable of NVIDIA's libraries. A device's toggles say which it is.
 * Source: CUDA C++ Programming Guide, environment variables; cuBLAS, NVIDIA_TF32_OVERRIDE.
 */
export async function findCudaCards(sight: Sight, readBoards = askBoards): Promise<readonly ProviderDevice[] | string> {
  const { gpus, tf32, dataDir, linkDir } = sight;
  const installed = await findInstalled(dataDir, "ort-cuda");
  if (typeof installed === "string") return installed;
  const visible = process.env["CUDA_VISIBLE_DEVICES"];
  // No program is asked where nothing may be seen. CUDA numbers what it sees.
  const boards = listVisible(null, visible) ?? listVisible(await readBoards(), visible) ?? [null];
  const seen = boards.map((board, deviceId) => ({ board, deviceId }));
  if (seen.length === 0) return `CUDA_VISIBLE_DEVICES is "${visible}", which names no card`;
  const cards = seen.filter(({ board }) => isWanted(board, sight));
  if (cards.length === 0) return "MILLRACE_GPU leaves out every card of NVIDIA; MILLRACE_ORT_CUDA=on takes all of them";
  const { folder, files, ort, cuda, libraries } = installed;
  await linkRuntime(folder, Object.keys(files), linkDir);
  const environment = {
    ...gpus[0]?.environment,
    // The runtime looks for a provider's libraries beside its own, which the loader takes from here.
    LD_LIBRARY_PATH: [linkDir ?? folder, process.env["LD_LIBRARY_PATH"]].filter(Boolean).join(delimiter),
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    NVIDIA_TF32_OVERRIDE: tf32 ? undefined : "0",
  };
  return cards.map(({ board, deviceId }) => {
    const name = board?.name ?? UNNAMED;
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
        ...(board && { board: describeBoard({ ...board, matchedBy: "address" }) }),
      },
    };
  });
}

/** Whether `MILLRACE_GPU` has this card. */
function isWanted(board: GpuBoard | null, { wanted, gpu }: Pick<Sight, "wanted" | "gpu">): boolean {
  if (wanted === "on" || gpu === "auto") return true;
  const name = toDeviceName(board?.name ?? UNNAMED);
  const address = (entry: string) => toPciAddress(entry) ?? entry;
  return gpu.some(
    (entry) =>
      (board !== null && [board.uuid, board.pciAddress].includes(address(entry))) || name.includes(toDeviceName(entry)),
  );
}

/**
 * NVIDIA's cards; null without NVIDIA's program: there may be one all the same. Fails with `backend-failed` where the
 * program lists none, asked twice: a busy driver may not answer in time.
 */
export async function askBoards(create = () => new NvidiaSmi()): Promise<readonly GpuBoard[] | null> {
  for (let tries = 0; tries < 2; tries++) {
    const program = create();
    const boards = await program.read(performance.now());
    if (boards.length > 0) return boards;
    if (program.isAbsent) return null;
  }
  throw new ProblemError("backend-failed", "nvidia-smi lists no card, or does not answer: call it by hand");
}

/**
 * Cards in CUDA's numbers: all, or those that `CUDA_VISIBLE_DEVICES` names by number or by the beginning of a UUID, up to
 * the first that is none. Null where there is something that is not known: no card was listed, or a part of one is named.
 */
export function listVisible(
  boards: readonly GpuBoard[] | null,
  visible: string | undefined,
): readonly GpuBoard[] | null {
  if (visible === undefined) return boards;
  const entries = visible.split(",").map((entry) => entry.trim());
  if (entries[0] === "" || entries[0] === "-1") return [];
  if (boards === null || entries[0]?.startsWith("MIG-")) return null;
  const named = entries.map((text) =>
    /^\d+$/.test(text) ? boards[Number(text)] : boards.find(({ uuid }) => text !== "" && uuid?.startsWith(text)),
  );
  const end = named.indexOf(undefined);
  return named.slice(0, end < 0 ? named.length : end).filter((board) => board !== undefined);
}
