import type { KernelArray } from "../../../kernels/kernel-spec.ts";
import type { ComputeOffer, ComputeResult } from "../../protocol/inference/compute.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../protocol/wire/tensor.ts";
import type { DeviceFleet, FleetDevice } from "./device-fleet.ts";
import type { ComputeOutcome } from "../kernels/compute-kernel.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";

/** Time after which a built-in kernel counts as hanging; the caller is answered at its budget in any case. */
const HANGING_MS = 60_000;

/** Resources for computing kernels. */
export interface ComputeParts {
  readonly fleet: Pick<DeviceFleet, "withKernel" | "use">;
  readonly residency: Pick<ResidencyManager, "useOnDevice">;
}

/** Answer without its identifiers. */
export type Computed = Pick<ComputeResult, "deviceKey" | "software" | "variant" | "times"> & {
  readonly tensors: Tensor[];
};

/** Computes a kernel on given inputs. Once the signal is aborted it does not begin: throws `budget-exceeded`. */
export async function serveCompute(
  { fleet, residency }: ComputeParts,
  { kernel, shape, seed, resident }: Pick<ComputeOffer, "kernel" | "shape" | "seed" | "resident">,
  tensors: readonly Tensor[],
  arrivedMs: number,
  signal: AbortSignal,
): Promise<Computed> {
  const place = fleet.withKernel(kernel);
  const inputs = Object.fromEntries(tensors.map((tensor) => [tensor.name, typedView(tensor) as KernelArray]));
  const [kept] = resident;
  const compute = async () => {
    if (signal.aborted) throw new ProblemError("budget-exceeded", "The request ended before it began.");
    const beside = kept === undefined ? {} : { [kept.binding]: kept.digest };
    return place.host.work("compute", { kernel, shape, seed, inputs, resident: beside }, HANGING_MS);
  };
  const { key } = place.host.device;
  const work = () => (kept === undefined ? compute() : residency.useOnDevice(kept.digest, key, compute));
  const outcome = await fleet.use(place, work);
  return describe(place, outcome, performance.now() - arrivedMs);
}

function describe({ host }: FleetDevice, { outputs, variant, times }: ComputeOutcome, totalMs: number): Computed {
  const busyMs = times.uploadMs + times.computeMs + times.readbackMs;
  return {
    deviceKey: host.device.key,
    software: host.device.software,
    variant,
    times: { queueMs: Math.max(0, totalMs - busyMs), ...times },
    tensors: Object.entries(outputs).map(([name, values]) => ({
      name,
      dtype: values instanceof Int32Array ? "int32" : "float32",
      shape: [values.length],
      bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    })),
  };
}
