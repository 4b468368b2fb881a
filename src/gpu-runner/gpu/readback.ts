import type { BufferPool } from "./buffer-pool.ts";
import { napFor } from "./nap.ts";

/** Commands that are submitted together with the copy, and how long they are expected to take. */
export interface WorkBefore {
  readonly encoder: GPUCommandEncoder;
  readonly expectedMs: number;
}

/** Copies the first bytes of a buffer (usage COPY_SRC) to the host; `sizeBytes` is a multiple of 4. */
export async function readBuffer(
  device: GPUDevice,
  pool: BufferPool,
  source: GPUBuffer,
  sizeBytes: number,
  { encoder, expectedMs }: WorkBefore = { encoder: device.createCommandEncoder(), expectedMs: 0 },
): Promise<ArrayBuffer> {
  const staging = pool.acquire(sizeBytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  try {
    encoder.copyBufferToBuffer(source, 0, staging, 0, sizeBytes);
    device.queue.submit([encoder.finish()]);
    await napFor(expectedMs);
    await staging.mapAsync(GPUMapMode.READ, 0, sizeBytes);
    const bytes = staging.getMappedRange(0, sizeBytes).slice(0);
    staging.unmap();
    return bytes;
  } finally {
    pool.release(staging);
  }
}
