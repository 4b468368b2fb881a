import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BufferPool } from "../../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { ResidentBuffers } from "../../../../src/gpu-runner/devices/gpu/resident-buffers.ts";

beforeEach(() => void vi.stubGlobal("GPUBufferUsage", { STORAGE: 128, COPY_SRC: 4, COPY_DST: 8 }));
afterEach(() => void vi.unstubAllGlobals());

/**
 * As much of a device as an upload touches: its driver has no memory, and like Dawn it hands out a buffer all the
 * same, which nothing can be written to. An error goes to the innermost scope of its kind, and is lost without one.
 */
function createPoorDevice() {
  const scopes: { filter: string; message: string | null }[] = [];
  const fail = (filter: string, message: string) => {
    const scope = scopes.findLast((each) => each.filter === filter);
    if (scope !== undefined) scope.message ??= message;
  };
  return {
    limits: { maxBufferSize: 2 ** 28 },
    pushErrorScope: (filter: string) => void scopes.push({ filter, message: null }),
    popErrorScope: async () => {
      const message = scopes.pop()?.message ?? null;
      return message === null ? null : { message };
    },
    createBuffer: ({ size, usage }: GPUBufferDescriptor) => {
      fail("out-of-memory", "the driver has no more");
      return { size, usage, destroy: () => {} };
    },
    queue: {
      writeBuffer: () => fail("validation", "the buffer is invalid"),
      onSubmittedWorkDone: async () => {},
    },
  } as unknown as GPUDevice;
}

test("what the driver has no memory for fails for that reason, and its buffer is never used again", async () => {
  const device = createPoorDevice();
  const pool = new BufferPool(device);
  const put = new ResidentBuffers(device, pool).put("weights", new Uint8Array(1_000));
  await expect(put).rejects.toMatchObject({ problem: { code: "out-of-memory", detail: "the driver has no more" } });
  expect(pool.counters).toMatchObject({ liveBytes: 0, idleBytes: 0, destroyed: 1 });
});
