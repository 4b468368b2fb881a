import type { PooledAgents, PoolPlace } from "../../protocol/agent-pool.ts";
import { ProblemError } from "../../protocol/problem.ts";

/** What a tier has room for, in bytes. */
export interface TierRoom {
  readonly freeBytes: number;
  readonly capacityBytes: number;
}

/**
 * Where a pool is worked on: on the device where that is wished for and leaves the floor free there, else on the host
 * where that leaves its floor free. Throws `out-of-memory` where neither does. `gpu` counts what is there already as free.
 */
export function chooseTier(
  { residency, minFreeGpu, minFreeHost }: Pick<PooledAgents, "residency" | "minFreeGpu" | "minFreeHost">,
  sizeBytes: number,
  { gpu, host }: { readonly gpu: TierRoom | null; readonly host: TierRoom },
): PoolPlace {
  const shareLeft = ({ freeBytes, capacityBytes }: TierRoom) => (freeBytes - sizeBytes) / capacityBytes;
  if (residency === "gpu" && gpu !== null && shareLeft(gpu) >= minFreeGpu) {
    return { tier: "gpu", freeShare: shareLeft(gpu) };
  }
  const freeShare = shareLeft(host);
  if (freeShare >= minFreeHost) return { tier: "host", freeShare };
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  throw new ProblemError(
    "out-of-memory",
    `${sizeBytes} bytes of agents would leave ${percent(Math.max(0, freeShare))} of this machine's memory free, and ${percent(minFreeHost)} are to stay free.`,
  );
}
