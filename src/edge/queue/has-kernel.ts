import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Capabilities } from "../../protocol/hardware.ts";
import { isKernelId } from "../store/kernel-store.ts";

/**
 * Whether a runner can run this kernel: it announces it or, of a submitted one, it takes such kernels
 * and announces the reference where that is not a submitted one too.
 */
export function hasKernel(
  { kernels, userKernels = false }: Capabilities,
  { kernel, reference = kernel }: Pick<BenchmarkSpec, "kernel" | "reference">,
): boolean {
  const announces = (wanted: string) => kernels.some(({ name }) => name === wanted);
  if (!isKernelId(kernel)) return announces(kernel);
  return userKernels && (isKernelId(reference) || announces(reference));
}
