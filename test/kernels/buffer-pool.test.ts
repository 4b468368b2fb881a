import { expect, test } from "vitest";
import { BufferPool } from "../../src/gpu-runner/gpu/buffer-pool.ts";

const STORAGE = 128;
const UNIFORM = 64;

/** As much of a device as the pool touches; buffers know whether they were destroyed. */
function createDevice(maxBufferSize = 2 ** 28) {
  const destroyed = new Set<GPUBuffer>();
  const createBuffer = ({ size, usage }: GPUBufferDescriptor) => {
    const buffer = { size, usage, destroy: () => destroyed.add(buffer) } as unknown as GPUBuffer;
    return buffer;
  };
  return { destroyed, device: { limits: { maxBufferSize }, createBuffer } as unknown as GPUDevice };
}

test("a buffer that came back is used again for the same size class and usage only", () => {
  const pool = new BufferPool(createDevice().device);
  const first = pool.acquire(1000, STORAGE);
  expect(first.size).toBe(1024);
  pool.release(first);
  expect(pool.acquire(1000, UNIFORM)).not.toBe(first);
  expect(pool.acquire(1025, STORAGE)).not.toBe(first);
  expect(pool.acquire(513, STORAGE)).toBe(first);
  expect(pool.acquire(513, STORAGE)).not.toBe(first);
  expect(pool.counters).toMatchObject({ created: 4, reused: 1, idleBytes: 0 });
});

test("what exceeds the cap is destroyed, and so is everything at the end", () => {
  const { device, destroyed } = createDevice();
  const pool = new BufferPool(device, 2048);
  const buffers = [1024, 1024, 1024].map((size) => pool.acquire(size, STORAGE));
  for (const buffer of buffers) pool.release(buffer);
  expect(destroyed).toEqual(new Set([buffers[2]]));
  expect(pool.counters).toMatchObject({ destroyed: 1, liveBytes: 0, idleBytes: 2048 });
  pool.destroy();
  expect(destroyed).toEqual(new Set(buffers));
  expect(pool.counters).toMatchObject({ destroyed: 3, idleBytes: 0 });
});

test("a size class is never larger than the device's largest buffer", () => {
  const pool = new BufferPool(createDevice(1500).device);
  expect(pool.acquire(1200, STORAGE).size).toBe(1500);
  const large = new BufferPool(createDevice().device).acquire(3 * 2 ** 20 + 4, STORAGE);
  expect(large.size).toBe(4 * 2 ** 20);
});
