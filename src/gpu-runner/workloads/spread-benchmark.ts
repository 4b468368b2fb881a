import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { FleetDevice } from "../device-fleet.ts";
import type { BenchmarkMeasurement } from "../gpu/benchmark-kernel.ts";
import { shareWork } from "../share-work.ts";
import { benchmarkOnDevice } from "./benchmark-on-device.ts";
import { combineParts } from "./combine-parts.ts";
import type { WorkloadContext } from "./workload.ts";

/**
 * Divides the batch over the devices of one kind, in proportion to how fast they ran the kernel lately,
 * and runs all shares at once. One share that fails ends the others. Fails with `invalid-request` for a
 * kernel without a batch.
 */
export async function spreadBenchmark(
  device: FleetDevice,
  spec: BenchmarkSpec,
  context: WorkloadContext,
): Promise<BenchmarkMeasurement> {
  const { fleet } = context;
  const kernel = device.host.kernels.find(({ name }) => name === spec.kernel);
  const dimension = kernel?.dimensions.find(({ name }) => name === kernel.batchDimension);
  if (dimension === undefined) {
    const errors = [{ pointer: "#/spread", message: "needs a kernel with a batch" }];
    throw new ProblemError("invalid-request", `'${spec.kernel}' has no batch to divide`, { errors });
  }
  const batch = spec.shape[dimension.name] ?? dimension.default;
  const devices = fleet.alike(device, spec.kernel);
  const shares = shareWork(
    batch,
    devices.map((each) => fleet.speedOf(each, spec.kernel)),
  );
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const running = devices.flatMap((each, index) => {
    const share = shares[index] ?? 0;
    if (share === 0) return [];
    const part = { ...spec, shape: { ...spec.shape, [dimension.name]: share } };
    return [
      benchmarkOnDevice(each, part, { ...context, signal }).then((measured) => ({
        deviceKey: each.host.device.key,
        batch: measured.shape[dimension.name] ?? share,
        measured,
      })),
    ];
  });
  try {
    return combineParts(await Promise.all(running), dimension.name);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(running);
    throw error;
  }
}
