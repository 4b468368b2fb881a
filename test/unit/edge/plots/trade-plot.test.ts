import { expect, it } from "vitest";
import { tradePlot } from "../../../../src/edge/models/sweep/sweep-plots.ts";
import type { TradedPlacement } from "../../../../src/protocol/models/trade-offs.ts";

const placed = (variant: string, p50Ms: number, changes: Partial<TradedPlacement> = {}): TradedPlacement => ({
  placementId: `plc_${"0".repeat(26)}`,
  variant,
  backend: "ort-cpu",
  runnerId: `rnr_${"0".repeat(26)}`,
  deviceKey: "cpu",
  software: false,
  state: "eligible",
  fidelity: 1,
  sizeBytes: 1,
  p50Ms,
  p99Ms: p50Ms,
  bestRowsPerS: 1,
  bestRows: 1,
  memoryBytes: null,
  latencyGain: null,
  throughputGain: null,
  front: false,
  ...changes,
});
const plotOf = (...items: TradedPlacement[]) => tradePlot({ model: "lenet5", version: 1, items });
const layersOf = (...items: TradedPlacement[]) =>
  plotOf(...items)!.panels[0]!.layers.map((layer) => {
    if (layer.kind === "line") return [layer.name, layer.points];
    return layer.kind === "marks" ? [layer.name, layer.marks.map(({ x, y }) => [x, y])] : [];
  });

it("sets what is lost against latency, with the front of real hardware", () => {
  const items = [
    placed("fp32", 4),
    placed("int8", 1, { fidelity: 0.98 }),
    placed("int4", 2, { fidelity: 0.9 }),
    placed("fp32", 0.5, { software: true, deviceKey: "gpu0" }),
    placed("fp16", 0.1, { state: "failed", fidelity: null }),
  ];
  expect(layersOf(...items)).toEqual([
    [
      "front",
      [
        [1, 2],
        [4, 0],
      ],
    ],
    ["beaten", [[2, 10]]],
    [
      "on the front",
      [
        [1, 2],
        [4, 0],
      ],
    ],
    ["software device", [[0.5, 0]]],
  ]);
});

it("has a front of software devices where there are no others", () => {
  expect(layersOf(placed("fp32", 3, { software: true }))).toEqual([
    ["front", [[3, 0]]],
    ["on the front", [[3, 0]]],
  ]);
});

it("is none where nothing is eligible", () => {
  expect(plotOf(placed("fp32", 3, { state: "failed" }))).toBeNull();
});
