import type { KernelDimension } from "../kernel-spec.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";

/** How many pairs of vectors one call takes. */
export const pairsDimension: KernelDimension<"pairs"> = {
  name: "pairs",
  description: "Pairs of vectors",
  min: 1,
  max: MAX_GROUPS,
  default: 256,
};

/** How long vectors may be: half of the longest, as complex numbers, fills a workgroup memory of 32 KiB. */
export const vectorDimension: KernelDimension<"dimension"> = {
  name: "dimension",
  description: "Values of a vector",
  min: 1,
  max: 8192,
  default: 1024,
};
