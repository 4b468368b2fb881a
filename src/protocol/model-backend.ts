import type { Backend, Device } from "./hardware.ts";

const MODEL_BACKENDS: ReadonlySet<Backend> = new Set(["ort-cpu", "ort-webgpu"]);

/** What executes models on a device of a runner; undefined where it serves none. */
export function modelBackendOf({ backends }: Pick<Device, "backends">): Backend | undefined {
  return backends.find((backend) => MODEL_BACKENDS.has(backend));
}
