import type { Capabilities } from "../../protocol/hardware.ts";

/** Whether a runner can run a kernel: it has it, and a device with every feature that the kernel needs. */
export function offersKernel({ kernels, devices }: Capabilities, name: string): boolean {
  const kernel = kernels.find((each) => each.name === name);
  if (kernel === undefined) return false;
  const needed = kernel.features ?? [];
  return needed.length === 0 || devices.some(({ features }) => needed.every((feature) => features.includes(feature)));
}
