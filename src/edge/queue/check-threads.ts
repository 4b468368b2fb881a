import type { Backend, Capabilities } from "../../protocol/hardware.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { ServingConfiguration } from "../../protocol/serving-configuration.ts";

/** Only ONNX Runtime on the CPU computes with threads, and with no more than its runner has cores for. */
export function checkThreads(
  { threads }: ServingConfiguration,
  backend: Backend,
  capabilities: Capabilities | null,
  prefix = "#",
): FieldError[] {
  const refuse = (message: string) => [{ pointer: `${prefix}/threads`, message }];
  if (threads === 1) return [];
  if (backend !== "ort-cpu") return refuse(`must be 1: ${backend} does not compute with threads`);
  const cores = capabilities?.hardware.cpu.logicalCores ?? 1;
  return threads <= cores ? [] : refuse(`must be at most ${cores}, the runner's logical cores`);
}
