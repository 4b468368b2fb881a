import { expect, it } from "vitest";
import { tabulateBatches } from "../../../../src/edge/fleet/batch-table.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

it("has each batch's time, rate and memory, by device", () => {
  const placement = (deviceKey: string, memory: { baseBytes: number; bytesPerRow: number } | null) => ({
    id: `plc_${deviceKey}`,
    deviceKey,
    subject: `digits@1 fp32 on ${deviceKey} by wgsl`,
    sweep: [
      { rows: 1, serviceMs: summarise([2, 2, 2]) },
      { rows: 8, serviceMs: summarise([4, 4, 4]) },
    ],
    memory,
  });
  const [first, second] = tabulateBatches([
    placement("gpu1", null),
    placement("gpu0", { baseBytes: 1_000, bytesPerRow: 10 }),
  ]);
  expect(first).toEqual({
    deviceKey: "gpu0",
    placementId: "plc_gpu0",
    subject: "digits@1 fp32 on gpu0 by wgsl",
    batches: [
      { rows: 1, medianMs: 2, rowsPerSecond: 500, memoryBytes: 1_010 },
      { rows: 8, medianMs: 4, rowsPerSecond: 2_000, memoryBytes: 1_080 },
    ],
  });
  expect(second?.batches.map(({ memoryBytes }) => memoryBytes)).toEqual([null, null]);
});
