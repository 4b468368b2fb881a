import type { Device } from "../../protocol/hardware.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { KernelContext } from "../gpu/dispatch.ts";
import type { Claim } from "./claim.ts";

const CHUNK_BYTES = 64 * 2 ** 20;
/** More would take long to fill, and others may want it. */
const MOST_BYTES = 2 ** 30;

/** That so much of the device's memory can be had at once and filled; `roomBytes` is what buffers may take. */
export function memoryClaim(
  context: KernelContext,
  { memoryBytes }: Pick<Device, "memoryBytes">,
  roomBytes: number,
): Claim {
  const claimedBytes = memoryBytes ?? context.pool.capBytes;
  return {
    claim: "memory",
    claimed: Number.isFinite(claimedBytes) ? `${claimedBytes} bytes` : "not told",
    find: async () => {
      const wantedBytes = Math.min(claimedBytes, roomBytes, MOST_BYTES);
      const filledBytes = await fill(context, wantedBytes);
      return {
        found: `${filledBytes} of ${wantedBytes} bytes that were tried are filled`,
        ok: filledBytes >= wantedBytes,
      };
    },
  };
}

async function fill({ device, pool }: KernelContext, wantedBytes: number): Promise<number> {
  const held: GPUBuffer[] = [];
  let filledBytes = 0;
  try {
    while (filledBytes < wantedBytes) {
      const bytes = Math.ceil(Math.min(CHUNK_BYTES, wantedBytes - filledBytes) / 4) * 4;
      held.push(await pool.acquireSurely(bytes, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST));
      const encoder = device.createCommandEncoder();
      encoder.clearBuffer(held.at(-1)!);
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      filledBytes += bytes;
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "out-of-memory") throw error;
  } finally {
    for (const buffer of held) pool.discard(buffer);
  }
  return filledBytes;
}
