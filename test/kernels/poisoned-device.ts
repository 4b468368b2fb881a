/**
 * A GPU's process whose buffers do not begin as zeros: each holds data as of another tenant. A result that is correct
 * here reads no memory that it has not written.
 */
import { BufferPool } from "../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { parseArgs } from "node:util";
import { openGpu } from "../../src/gpu-runner/devices/gpu/device.ts";
import { createGpuHandlers } from "../../src/gpu-runner/device-program/gpu-handlers.ts";
import { serveCalls } from "../../src/gpu-runner/device-program/serve-calls.ts";

/** NaN as a float32 and as two float16, and no small number as anything else. */
const POISON_WORD = 0x7fc07fc1;
const CHUNK_BYTES = 2 ** 20;

const { values } = parseArgs({ strict: false, options: { adapter: { type: "string" } } });

serveCalls(async ({ die, noteUsed }) => {
  const gpu = await openGpu((reason) => die(`the device was lost: ${reason}`), values.adapter as string | undefined);
  poisonNewBuffers(gpu.device);
  // One that is used again would be cleared: here all are new.
  BufferPool.prototype.release = function release(buffer) {
    this.discard(buffer);
  };
  return createGpuHandlers(gpu, { onUsed: noteUsed });
});

function poisonNewBuffers(device: GPUDevice): void {
  const create = device.createBuffer.bind(device);
  const poison = new Uint32Array(CHUNK_BYTES / 4).fill(POISON_WORD);
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const { size, usage } = descriptor;
    if ((usage & GPUBufferUsage.COPY_DST) === 0 || descriptor.mappedAtCreation === true) return buffer;
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      device.queue.writeBuffer(buffer, at, poison.buffer, 0, 4 * Math.floor(Math.min(CHUNK_BYTES, size - at) / 4));
    }
    return buffer;
  };
}
