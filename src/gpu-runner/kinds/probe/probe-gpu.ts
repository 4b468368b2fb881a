import { freemem } from "node:os";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import type { ProbedClaim } from "../../../protocol/jobs/probe.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { Gpu } from "../../devices/gpu/device.ts";
import { assertWanted } from "../../devices/progress.ts";
import { isEmulated } from "../../host/hardware/device-names.ts";
import type { BenchmarkDevice } from "../../kernels/benchmark/benchmark-kernel.ts";
import type { KernelContext } from "../../kernels/dispatch/dispatch.ts";
import { arithmeticClaims } from "./arithmetic-claims.ts";
import { checkClaim, type Claim } from "./claim.ts";
import { limitClaims } from "./limit-claims.ts";
import { speedClaims } from "./speed-claims.ts";
import { timestampClaims } from "./timestamp-claims.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/** Claims of the adapter's identity, that it is no emulation unless claimed, and that each feature exists. */
function identityClaims(
  gpu: Pick<Gpu, "adapter" | "device">,
  claimed: Pick<Device, "fingerprint" | "software" | "features">,
): Claim[] {
  const { info } = gpu.adapter;
  const adapter = [info.vendor, info.architecture, info.device].filter(Boolean).join(" ");
  const isSoftware = isEmulated(info);
  const { fingerprint, software, features } = claimed;
  const missing = features.filter((feature) => !gpu.device.features.has(feature));
  return [
    {
      claim: "adapter",
      claimed: fingerprint.adapter ?? "none",
      find: async () => ({ found: adapter, ok: fingerprint.adapter === null || fingerprint.adapter === adapter }),
    },
    {
      claim: "software",
      claimed: software ? "an emulation" : "a real GPU",
      // Calling a real GPU an emulation claims less than it is, and passes.
      find: async () => ({ found: isSoftware ? "an emulation" : "a real GPU", ok: software || !isSoftware }),
    },
    {
      claim: "features",
      claimed: features.join(", ") || "none",
      find: async () => ({
        found: missing.length === 0 ? "the device was opened with each of them" : `absent: ${missing.join(", ")}`,
        ok: missing.length === 0,
      }),
    },
  ];
}

const CHUNK_BYTES = 64 * 2 ** 20;
/** Most bytes to test: more would take long to fill, and other work may need them. */
const MOST_BYTES = 2 ** 30;

/**
 * Claim that this much device memory can be allocated at once and filled; `roomBytes` is the most that buffers may
 * hold.
 */
function memoryClaim(context: KernelContext, { memoryBytes }: Pick<Device, "memoryBytes">, roomBytes: number): Claim {
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
      await shareCoreUntil(device.queue.onSubmittedWorkDone());
      filledBytes += bytes;
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "out-of-memory") throw error;
  } finally {
    for (const buffer of held) pool.discard(buffer);
  }
  return filledBytes;
}

export interface ProbeOptions {
  readonly onProgress: (progress: JobProgress) => void;
  readonly signal: AbortSignal;
}

/** Share of the free memory: an emulation keeps its buffers in the machine's own memory. */
const HOST_SHARE = 0.2;
const POOL_SHARE = 0.8;
const MiB = 2 ** 20;

/** Checks the claims of an open GPU with small kernels, one after the other; the progress phase is the claim. */
export async function probeGpuClaims(
  target: BenchmarkDevice,
  claimed: Device,
  { onProgress, signal }: ProbeOptions,
): Promise<ProbedClaim[]> {
  // Large buffers are released at once.
  const context = { ...target, pool: target.pool.splitOff(0) };
  const hostBytes = claimed.software || target.description.software ? HOST_SHARE * freemem() : Number.POSITIVE_INFINITY;
  const roomBytes = Math.floor(Math.min(POOL_SHARE * context.pool.capBytes, hostBytes) / MiB) * MiB;
  const claims = [
    ...identityClaims(target.gpu, claimed),
    ...arithmeticClaims(context, claimed),
    ...timestampClaims(context, claimed),
    ...limitClaims(context, claimed, roomBytes),
    memoryClaim(context, claimed, roomBytes),
    ...speedClaims(context, claimed, signal),
  ];
  const probed: ProbedClaim[] = [];
  for (const [index, claim] of claims.entries()) {
    assertWanted(signal);
    onProgress({ phase: claim.claim, done: index, total: claims.length });
    probed.push(await checkClaim(claim));
  }
  return probed;
}
