/** Read and written by kernels, filled from the host and read back. Functions: Dawn brings the constants when it is opened. */
export function storageUsage(): GPUBufferUsageFlags {
  return GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
}

/** A few words that the host writes before a dispatch. */
export function uniformUsage(): GPUBufferUsageFlags {
  return GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
}
