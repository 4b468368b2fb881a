import type { BufferPool } from "./buffer-pool.ts";
import { napFor, shareCoreUntil } from "./wait-for-gpu.ts";

/** Commands submitted together with the copy, and their expected duration. */
export interface WorkBefore {
  readonly encoder: GPUCommandEncoder;
  readonly expectedMs: number;
}

/** First bytes of a buffer (usage COPY_SRC), a multiple of 4. */
export interface BufferPiece {
  readonly buffer: GPUBuffer;
  readonly sizeBytes: number;
}

/** Copies a buffer's first bytes to the host, like `readPieces`. */
export function readBuffer(
  device: GPUDevice,
  pool: BufferPool,
  buffer: GPUBuffer,
  sizeBytes: number,
): Promise<ArrayBuffer> {
  return readPieces(device, pool, [{ buffer, sizeBytes }]);
}

/** Copies pieces of buffers to the host, one after the other, in one submission. */
export async function readPieces(
  device: GPUDevice,
  pool: BufferPool,
  pieces: readonly BufferPiece[],
  { encoder, expectedMs }: WorkBefore = { encoder: device.createCommandEncoder(), expectedMs: 0 },
): Promise<ArrayBuffer> {
  const totalBytes = pieces.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  const staging = pool.acquire(totalBytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST, "overwritten");
  try {
    copyPieces(encoder, pieces, staging);
    device.queue.submit([encoder.finish()]);
    const bytes = await readStaging(staging, totalBytes, expectedMs);
    pool.release(staging);
    return bytes;
  } catch (error) {
    pool.discard(staging);
    throw error;
  }
}

/** Encodes copies of pieces, one after the other, to a staging buffer. */
export function copyPieces(encoder: GPUCommandEncoder, pieces: readonly BufferPiece[], staging: GPUBuffer): void {
  let offset = 0;
  for (const { buffer, sizeBytes } of pieces) {
    encoder.copyBufferToBuffer(buffer, 0, staging, offset, sizeBytes);
    offset += sizeBytes;
  }
}

/** First bytes of a staging buffer, after the expected end of the work that fills it. */
export async function readStaging(staging: GPUBuffer, sizeBytes: number, expectedMs: number): Promise<ArrayBuffer> {
  await napFor(expectedMs);
  await shareCoreUntil(staging.mapAsync(GPUMapMode.READ, 0, sizeBytes));
  const bytes = staging.getMappedRange(0, sizeBytes).slice(0);
  staging.unmap();
  return bytes;
}
