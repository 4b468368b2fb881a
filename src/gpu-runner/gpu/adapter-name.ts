/** Whether what an adapter tells of itself is that of an emulation on the CPU. */
export function isSoftwareAdapter(text: string): boolean {
  return /swiftshader|llvmpipe|lavapipe/i.test(text);
}

/** The name of the device that the adapter of this name becomes: as WebGPU tells it, without what hangs over. */
export function toDeviceName(adapterName: string): string {
  return adapterName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-+$/, "");
}
