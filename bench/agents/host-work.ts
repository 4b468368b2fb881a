import type { KernelArrays, KernelShape } from "../../kernels/kernel-spec.ts";

/** A kernel's work on typed arrays. It allocates its outputs once; a call fills them, in the references' order. */
export type HostWork = (inputs: KernelArrays, shape: KernelShape) => () => readonly ArrayLike<number>[];
