import type { Backend, Device } from "./hardware.ts";

const MODEL_BACKENDS: ReadonlySet<Backend> = new Set(["ort-cpu", "ort-webgpu"]);

/** What executes models on a device of a runner; undefined where it serves none. Kernels run by `wgsl` on every GPU. */
export function modelBackendOf({
  backends,
  servesModels = false,
}: Pick<Device, "backends" | "servesModels">): Backend | undefined {
  return backends.find((backend) => MODEL_BACKENDS.has(backend) || (backend === "wgsl" && servesModels));
}
