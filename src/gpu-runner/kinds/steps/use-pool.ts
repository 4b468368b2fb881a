import { freemem, totalmem } from "node:os";
import type { KernelArrays, KernelShape } from "../../../../kernels/kernel-spec.ts";
import type { PooledAgents, PoolPlace } from "../../../protocol/jobs/agent-pool.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ComputeOutcome } from "../../kernels/compute-kernel.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { WorkloadContext } from "../kind.ts";

/** Room of a memory tier, in bytes. */
interface TierRoom {
  readonly freeBytes: number;
  readonly capacityBytes: number;
}

/**
 * Tier for working on a pool: the device where wanted and its floor stays free, else the host under the same condition.
 * Throws `out-of-memory` where neither has room. `gpu` counts its present contents as free.
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

/** Kernel computation, whose input `population` is a pool where there is one. */
export interface PoolWork {
  readonly kernel: string;
  readonly shape: KernelShape;
  readonly inputs: KernelArrays;
}

/** Pool that kernels can reach. */
export interface UsedPool {
  readonly place: PoolPlace;
  /** Float32 agents × numbers. */
  read(): Promise<Float32Array<ArrayBuffer>>;
  /** Computes a kernel with the pool as its `population`. */
  compute(work: PoolWork): Promise<ComputeOutcome>;
}

/** Bytes of a pool's states. */
function sizeOf({ agents, stateSize }: PooledAgents): number {
  return 4 * agents * stateSize;
}

/** Computes a kernel with inputs of the host alone. */
export function computeOn(
  { host }: FleetDevice,
  { kernel, shape, inputs }: PoolWork,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ComputeOutcome> {
  return host.work("compute", { kernel, shape, seed: 0, inputs, resident: {} }, timeoutMs, { signal });
}

/**
 * Brings a pool to a device, or to the host beside it, within its floors. Throws `out-of-memory` where it fits nowhere.
 */
export async function usePool(
  pool: PooledAgents,
  device: FleetDevice,
  { residency, signal }: Pick<WorkloadContext, "residency" | "signal">,
  timeoutMs: number,
): Promise<UsedPool> {
  const { digest } = pool;
  const { key } = device.host.device;
  const place = chooseTier(pool, sizeOf(pool), { gpu: await readGpuRoom(residency, key), host: hostRoom() });
  const read = async () => {
    if (digest === null) return new Float32Array(pool.agents * pool.stateSize);
    const bytes = await residency.read(digest);
    if (bytes.byteLength !== sizeOf(pool)) {
      throw new ProblemError(
        "backend-failed",
        `The states of the pool have ${bytes.byteLength} bytes, not ${sizeOf(pool)}.`,
      );
    }
    return new Float32Array(new Uint8Array(bytes).buffer);
  };
  return {
    place,
    read,
    async compute({ kernel, shape, inputs }) {
      const options = { timeoutMs, signal };
      if (place.tier === "host" || digest === null) {
        return computeOn(device, { kernel, shape, inputs: { ...inputs, population: await read() } }, options);
      }
      return residency.useOnDevice(digest, key, () =>
        device.host.work("compute", { kernel, shape, seed: 0, inputs, resident: { population: digest } }, timeoutMs, {
          signal,
        }),
      );
    },
  };
}

/** Room for data that a device keeps between dispatches; null where it keeps nothing. */
async function readGpuRoom(
  residency: Pick<WorkloadContext["residency"], "report">,
  deviceKey: string,
): Promise<TierRoom | null> {
  const { tiers } = await residency.report();
  const tier = tiers.find((each) => each.tier === "gpu" && each.deviceKey === deviceKey);
  if (tier === undefined || tier.capacityBytes === null) return null;
  // Unused data gives way to data in use.
  return { freeBytes: tier.capacityBytes - tier.pinnedBytes, capacityBytes: tier.capacityBytes };
}

function hostRoom(): TierRoom {
  return { freeBytes: freemem(), capacityBytes: totalmem() };
}
