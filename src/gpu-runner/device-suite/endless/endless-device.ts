/** Entry of a GPU's process that has one kernel more than usual: one that never ends. */
import { parseArgs } from "node:util";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../../kernels/registry.ts";
import { createGpuHandlers } from "../../device-program/gpu-handlers.ts";
import { serveCalls } from "../../device-program/serve-calls.ts";
import { openGpu } from "../../devices/gpu/device.ts";
import { ENDLESS } from "./endless-kernel.ts";

const { values } = parseArgs({
  options: { role: { type: "string" }, adapter: { type: "string" }, "memory-bytes": { type: "string" } },
});

serveCalls(async ({ die, noteUsed }) => {
  const gpu = await openGpu((reason) => die(`the device was lost: ${reason}`), values.adapter);
  const kernels = new Map([...KERNELS, [ENDLESS.name, ENDLESS as KernelSpec]]);
  const memoryBytes = values["memory-bytes"];
  return createGpuHandlers(gpu, {
    kernels,
    onUsed: noteUsed,
    ...(memoryBytes !== undefined && { memoryBytes: Number(memoryBytes) }),
  });
});
