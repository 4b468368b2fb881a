import type { Capabilities } from "../../protocol/hardware.ts";
import type { FieldError } from "../../protocol/problem.ts";

/** A job that needs a kernel waits for a runner; where runners have connected and none has it, it would wait for ever. */
export function checkKernelKnown(kernel: string, announced: readonly Capabilities[]): FieldError[] {
  const isKnown = announced.some(({ kernels }) => kernels.some(({ name }) => name === kernel));
  if (announced.length === 0 || isKnown) return [];
  return [{ pointer: "#/kind", message: `needs the kernel ${kernel}, which no runner has` }];
}
