import { describe, expect, it } from "vitest";
import { weighVariants } from "../../../../../src/edge/models/sweep/weigh-variants.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import type { ModelVersion, Placement } from "../../../../../src/protocol/models/model.ts";
import { DEFAULT_CONFIGURATION } from "../../../../../src/protocol/fleet/serving.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";

const AT = "2026-11-22T09:00:00.000Z";
const fileOf = (name: string, sizeBytes: number) => ({
  name,
  digest: `sha256:${"0".repeat(64)}`,
  sizeBytes,
  fidelity: null,
  summary: null,
  recipe: null,
  measured: null,
  jobId: null,
  createdAt: AT,
});
const version: ModelVersion = {
  id: createId("modelVersion"),
  version: 3,
  digest: `sha256:${"0".repeat(64)}`,
  sizeBytes: 4_000,
  inputs: [],
  outputs: [],
  edgeParameters: null,
  summary: null,
  backends: [],
  files: [],
  card: null,
  data: null,
  variants: [fileOf("fp32", 4_000), fileOf("int8", 1_000)],
  createdAt: AT,
};
const runnerId = createId("runner");

function placed(variant: string, ms: number, fidelity: number | null, changes: Partial<Placement> = {}): Placement {
  return {
    id: createId("placement"),
    modelVersionId: version.id,
    runnerId,
    deviceKey: "cpu",
    software: false,
    variant,
    backend: "ort-cpu",
    state: "eligible",
    fidelity,
    sweep: [1, 4].map((rows) => ({ rows, serviceMs: summarise([ms * Math.sqrt(rows)]) })),
    sizes: [],
    memory: { baseBytes: 100, bytesPerRow: 10 },
    loadMs: 1,
    linkMs: summarise([1]),
    configuration: DEFAULT_CONFIGURATION,
    validated: null,
    updatedAt: AT,
    ...changes,
  };
}

describe("the precision trade", () => {
  it("reports each variant's gain over the first in the same place, by size, time and rows a second", () => {
    const rows = weighVariants(version, [placed("int8", 2, 0.98), placed("fp32", 5, 1)]);
    expect(rows.map(({ variant }) => variant)).toEqual(["fp32", "int8"]);
    expect(rows[1]).toMatchObject({
      sizeBytes: 1_000,
      p50Ms: 2,
      bestRows: 4,
      bestRowsPerS: 1_000,
      memoryBytes: 110,
      latencyGain: 2.5,
      throughputGain: 2.5,
      front: true,
    });
    expect(rows[0]).toMatchObject({ latencyGain: 1, throughputGain: 1, front: true });
  });

  it("has no gain where the first variant is not served in the same place", () => {
    const failed = placed("fp32", 5, null, { state: "failed" });
    const elsewhere = placed("fp32", 5, 1, { deviceKey: "gpu0", backend: "ort-webgpu" });
    const rows = weighVariants(version, [placed("int8", 2, 0.98), failed, elsewhere]);
    expect(rows.find(({ variant }) => variant === "int8")).toMatchObject({ latencyGain: null, throughputGain: null });
  });

  it("leaves what another beats in all, and what failed, off the front", () => {
    const slow = placed("int8", 9, 0.9);
    const failed = placed("int8", 0.1, null, { state: "failed", deviceKey: "gpu0" });
    const rows = weighVariants(version, [placed("fp32", 5, 1), slow, failed]);
    expect(rows.filter(({ front }) => front).map(({ variant }) => variant)).toEqual(["fp32"]);
  });

  it("never holds a software device against others", () => {
    const emulated = placed("fp32", 50, 1, { deviceKey: "gpu0", backend: "ort-webgpu", software: true });
    expect(weighVariants(version, [placed("fp32", 5, 1), emulated]).every(({ front }) => front)).toBe(true);
  });

  it("knows no size of what is no file", () => {
    expect(weighVariants(version, [placed("edge-int8", 5, 1)])[0]?.sizeBytes).toBeNull();
  });
});
