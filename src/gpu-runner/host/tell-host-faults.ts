import { checkVulkan } from "../../checkup/check-vulkan.ts";
import {
  judgeDescriptors,
  judgeMemory,
  judgeProcessMemory,
  nameGpuFault,
  readLimits,
  readMemory,
  RUNNER_BYTES,
} from "../../checkup/judge-host.ts";
import type { Device } from "../../protocol/fleet/hardware.ts";
import type { RunnerConfig } from "../config.ts";
import type { Troubles } from "./troubles.ts";

/** Tells what this machine or its limits lack for a runner. */
export async function tellHostFaults(troubles: Troubles, { processBytes }: RunnerConfig): Promise<void> {
  const { freeBytes, totalBytes } = readMemory();
  const faults = [
    judgeDescriptors(await readLimits()),
    judgeMemory(freeBytes, totalBytes, RUNNER_BYTES),
    judgeProcessMemory(processBytes),
  ];
  for (const fault of faults) if (fault !== null) troubles.tell(fault);
}

/** Tells that no GPU computes where one is wanted, and what is wrong on the way to the machine's own drivers. */
export async function tellGpuFaults(
  troubles: Troubles,
  { gpu }: RunnerConfig,
  devices: readonly Device[],
): Promise<void> {
  if (gpu !== "auto" && gpu.length === 0) return;
  const wantsReal = gpu === "auto" || gpu.some((entry) => entry !== "software");
  const gpus = devices.filter(({ kind }) => kind === "gpu");
  if (gpus.some(({ software }) => !wantsReal || !software)) return;
  troubles.tell(nameGpuFault(null, gpus[0]?.name ?? null), "gpu");
  const vulkan = wantsReal ? await checkVulkan(process.env) : null;
  if (vulkan !== null && typeof vulkan !== "string" && !vulkan.isMild) troubles.tell(vulkan, "drivers");
}
