import type { KernelContext } from "./dispatch.ts";

/** Gives back to the driver what waits for reuse, and what was destroyed. */
export async function freeIdle({ device, pool }: Pick<KernelContext, "device" | "pool">): Promise<void> {
  pool.destroy();
  // Dawn frees destroyed buffers behind the next submission: without one, never.
  device.queue.submit([]);
  await device.queue.onSubmittedWorkDone();
}
