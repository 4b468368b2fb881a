import { expect, test } from "vitest";
import { BufferPool } from "../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";

/** With COPY_DST, 8, by which a buffer is cleared. */
const STORAGE = 128 | 8;
const UNIFORM = 64 | 8;

/** As much of a device as the pool touches; it knows which buffers were destroyed, and which cleared. */
function createDevice(maxBufferSize = 2 ** 28) {
  const destroyed = new Set<GPUBuffer>();
  const cleared: GPUBuffer[] = [];
  const createBuffer = ({ size, usage }: GPUBufferDescriptor) => {
    const buffer = { size, usage, destroy: () => destroyed.add(buffer) } as unknown as GPUBuffer;
    return buffer;
  };
  const createCommandEncoder = () => {
    const commands: GPUBuffer[] = [];
    return { clearBuffer: (buffer: GPUBuffer) => commands.push(buffer), finish: () => commands };
  };
  const queue = { submit: (lists: GPUBuffer[][]) => cleared.push(...lists.flat()) };
  const device = { limits: { maxBufferSize }, createBuffer, createCommandEncoder, queue };
  return { destroyed, cleared, device: device as unknown as GPUDevice };
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

test("a buffer that is used again is cleared, but for who writes over all of it", () => {
  const { device, cleared } = createDevice();
  const pool = new BufferPool(device);
  const buffer = pool.acquire(1000, STORAGE);
  expect(cleared).toEqual([]);
  pool.release(buffer);
  expect(pool.acquire(1000, STORAGE, "overwritten")).toBe(buffer);
  expect(cleared).toEqual([]);
  pool.release(buffer);
  expect(pool.acquire(600, STORAGE)).toBe(buffer);
  expect(cleared).toEqual([buffer]);
});

test("what cannot be cleared is not used again", () => {
  const { device, destroyed } = createDevice();
  const pool = new BufferPool(device);
  const buffer = pool.acquire(1000, 128);
  pool.release(buffer);
  expect(destroyed).toEqual(new Set([buffer]));
  expect(pool.acquire(1000, 128)).not.toBe(buffer);
  expect(pool.counters).toMatchObject({ created: 2, reused: 0, idleBytes: 0 });
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

test("what does not fit under the cap is refused with a problem, and the driver is not asked", () => {
  const { device } = createDevice(2 ** 40);
  const pool = new BufferPool(device, undefined, 4096);
  const first = pool.acquire(2048, STORAGE);
  pool.acquire(1024, STORAGE);
  const { created } = pool.counters;
  for (const sizeBytes of [2048, 100e9]) {
    expect(() => pool.acquire(sizeBytes, STORAGE)).toThrow(ProblemError);
    expect(() => pool.acquire(sizeBytes, STORAGE)).toThrow("3072 of the device's 4096 are in use");
  }
  expect(pool.counters).toMatchObject({ created, refused: 4, liveBytes: 3072, peakBytes: 3072 });
  pool.release(first);
  expect(pool.acquire(2048, STORAGE)).toBe(first);
});

test("buffers that wait give way before anything is refused", () => {
  const { device, destroyed } = createDevice();
  const pool = new BufferPool(device, undefined, 4096);
  const small = Array.from({ length: 4 }, () => pool.acquire(1024, STORAGE));
  for (const buffer of small) pool.release(buffer);
  expect(pool.acquire(2048, STORAGE).size).toBe(2048);
  expect(destroyed.size).toBe(2);
  expect(pool.counters).toMatchObject({ liveBytes: 2048, idleBytes: 2048, refused: 0, peakBytes: 4096 });
});

test("of buffers that wait, those of the kind that was used longest ago give way first", () => {
  const { device, destroyed } = createDevice();
  const pool = new BufferPool(device, undefined, 4096);
  const first = pool.acquire(1024, STORAGE);
  const second = pool.acquire(2048, STORAGE);
  pool.release(first);
  pool.release(second);
  // Now the first kind is the one that was used last.
  pool.release(pool.acquire(1024, STORAGE));
  pool.acquire(1024, UNIFORM);
  pool.acquire(512, UNIFORM);
  expect(destroyed).toEqual(new Set([second]));
});

test("a pool that is split off has what is left under the cap, and nothing that waited", () => {
  const { device, destroyed } = createDevice();
  const pool = new BufferPool(device, undefined, 4096);
  pool.acquire(1024, STORAGE);
  const waiting = pool.acquire(1024, STORAGE);
  pool.release(waiting);
  expect(pool.splitOff().capBytes).toBe(3072);
  expect(destroyed).toEqual(new Set([waiting]));
});
