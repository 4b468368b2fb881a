import { expect, test } from "vitest";
import { WatchedPlacements } from "../../../../src/gpu-runner/watch/prepare-probe.ts";
import type { PlacedModel } from "../../../../src/protocol/link.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";

const placed = (modelVersionId: string, ...places: [deviceKey: string, variant: string][]): PlacedModel => ({
  modelVersionId,
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [],
  outputs: [],
  places: places.map(([deviceKey, variant]) => ({ deviceKey, variant })),
});
const watch = () => new WatchedPlacements((key) => (key === "cpu" ? "ort-cpu" : undefined));
const keysOf = (placements: WatchedPlacements) => placements.all().map(([key]) => key);

test("a welcome names them all; what is configured or calibrated later comes on top", () => {
  const placements = watch();
  placements.welcomed([placed("mdv_a", ["cpu", "fp32"], ["cpu", "int8"])]);
  placements.configured([placed("mdv_a", ["cpu", "fp32"]), placed("mdv_b", ["cpu", "fp32"])]);
  placements.add(placed("mdv_c"), [{ deviceKey: "cpu", variant: "fp32" }]);
  expect(keysOf(placements)).toEqual(["cpu mdv_a/fp32", "cpu mdv_a/int8", "cpu mdv_b/fp32", "cpu mdv_c/fp32"]);
  placements.welcomed([placed("mdv_b", ["cpu", "fp32"])]);
  expect(placements.all()).toMatchObject([
    ["cpu mdv_b/fp32", { deviceKey: "cpu", variant: "fp32", backend: "ort-cpu" }],
  ]);
});

test("what lies on no device of this runner that serves models is not watched", () => {
  const placements = watch();
  const { places: _, ...nowhere } = placed("mdv_b");
  placements.welcomed([placed("mdv_a", ["gpu0", "fp32"]), nowhere]);
  expect(placements.all()).toEqual([]);
});

test("no more are watched than a report takes", () => {
  const placements = watch();
  const count = LIMITS.watchedPlacements + 1;
  placements.welcomed(Array.from({ length: count }, (_, index) => placed(`mdv_${index}`, ["cpu", "fp32"])));
  expect(placements.all()).toHaveLength(LIMITS.watchedPlacements);
});
