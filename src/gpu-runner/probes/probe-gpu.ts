import { freemem } from "node:os";
import type { Device } from "../../protocol/hardware.ts";
import type { JobProgress } from "../../protocol/job.ts";
import type { ProbedClaim } from "../../protocol/probe.ts";
import { assertWanted } from "../gpu/assert-wanted.ts";
import type { BenchmarkDevice } from "../gpu/benchmark-kernel.ts";
import { arithmeticClaims } from "./arithmetic-claims.ts";
import { checkClaim } from "./claim.ts";
import { identityClaims } from "./identity-claims.ts";
import { limitClaims } from "./limit-claims.ts";
import { memoryClaim } from "./memory-claim.ts";
import { speedClaims } from "./speed-claims.ts";
import { timestampClaims } from "./timestamp-claims.ts";

export interface ProbeOptions {
  readonly onProgress: (progress: JobProgress) => void;
  readonly signal: AbortSignal;
}

/** Of what is free: an emulation has its buffers in the machine's own memory. */
const HOST_SHARE = 0.2;
const POOL_SHARE = 0.8;
const MiB = 2 ** 20;

/** Checks by small kernels what is claimed of an open GPU, one claim after the other; the phase of progress is the claim. */
export async function probeGpuClaims(
  target: BenchmarkDevice,
  claimed: Device,
  { onProgress, signal }: ProbeOptions,
): Promise<ProbedClaim[]> {
  // Large buffers are given back at once.
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
