import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Capabilities } from "../../protocol/hardware.ts";
import { isKernelId } from "../store/kernel-store.ts";
import { offersKernel } from "./offers-kernel.ts";

/**
 * Whether a runner can run this kernel: it announces it or, of a submitted one, it takes such kernels
 * and announces the reference where that is not a submitted one too.
 */
export function hasKernel(
  capabilities: Capabilities,
  { kernel, reference = kernel }: Pick<BenchmarkSpec, "kernel" | "reference">,
): boolean {
  if (!isKernelId(kernel)) return offersKernel(capabilities, kernel);
  const { userKernels = false } = capabilities;
  return userKernels && (isKernelId(reference) || offersKernel(capabilities, reference));
}
