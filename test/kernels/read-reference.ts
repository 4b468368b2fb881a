import type { KernelReference } from "../../kernels/kernel-spec.ts";

/** Every output of a reference by name, whole. */
export function readReference(reference: KernelReference): Record<string, number[]> {
  return Object.fromEntries(
    [reference, ...(reference.others ?? [])].map((each) => [
      each.output,
      Array.from({ length: each.length }, (_, index) => each.element(index)),
    ]),
  );
}
