import type { MeasuredBatches } from "../../protocol/fleet/runner.ts";
import type { Placement } from "../../protocol/models/model.ts";
import { aggregateQuantile } from "../../stats/distribution/distribution.ts";

type Measured = Pick<Placement, "id" | "deviceKey" | "sweep" | "memory"> & { readonly subject: string };

/** Batch sizes of a runner's placements by device, with time and memory as their calibrations measured them. */
export function tabulateBatches(placements: readonly Measured[]): MeasuredBatches[] {
  return placements
    .map(({ id, deviceKey, subject, sweep, memory }) => ({
      deviceKey,
      placementId: id,
      subject,
      batches: sweep.map(({ rows, serviceMs }) => {
        const medianMs = aggregateQuantile(serviceMs, 0.5);
        return {
          rows,
          medianMs,
          rowsPerSecond: (1_000 * rows) / medianMs,
          memoryBytes: memory === null ? null : memory.baseBytes + rows * memory.bytesPerRow,
        };
      }),
    }))
    .toSorted((a, b) => a.deviceKey.localeCompare(b.deviceKey) || a.subject.localeCompare(b.subject));
}
