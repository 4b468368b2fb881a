import { describe, expect, it } from "vitest";
import { layOutLandscape, listAxes, readChoice, writeChoice } from "../../../src/dashboard/kernels/trials.ts";
import type { StoredTuningRecord, TuningTrial } from "../../../src/protocol/jobs/tuning.ts";

const trial = (axes: Record<string, number>, changes: Partial<TuningTrial> = {}): TuningTrial => ({
  variant: "tiled",
  axes,
  outcome: "timed",
  reason: null,
  rungsMs: [[1]],
  ...changes,
});

const record = (trials: readonly TuningTrial[]): StoredTuningRecord =>
  ({
    tuning: {
      best: { variant: "tiled", axes: { x: 2, y: 8, z: 1 } },
      untuned: { variant: "tiled", axes: { x: 1, y: 4, z: 1 } },
    },
    trials,
  }) as unknown as StoredTuningRecord;

const tried = record([
  trial({ x: 1, y: 4, z: 1 }, { rungsMs: [[9], [8, 8, 8]] }),
  trial({ x: 2, y: 8, z: 1 }, { rungsMs: [[1]] }),
  trial({ x: 2, y: 8, z: 2 }, { rungsMs: [[4]] }),
  trial({ x: 2, y: 4, z: 1 }, { outcome: "invalid", rungsMs: [] }),
  trial({}, { variant: "plain", rungsMs: [[20]] }),
]);

describe("a landscape", () => {
  it("begins with the best's variant and its first two axes", () => {
    expect(readChoice(null, tried)).toEqual({ variant: "tiled", across: "x", down: "y" });
    expect(readChoice("plain", tried)).toEqual({ variant: "plain", across: null, down: null });
    expect([...listAxes(tried)]).toEqual([
      ["tiled", ["x", "y", "z"]],
      ["plain", []],
    ]);
  });

  it("takes its choice from the address, and back, whatever stands there", () => {
    const choice = readChoice("tiled,z,x", tried);
    expect(choice).toEqual({ variant: "tiled", across: "z", down: "x" });
    expect(readChoice(writeChoice(choice), tried)).toEqual(choice);
    expect(readChoice("gone,q,q", tried)).toEqual(readChoice(null, tried));
    expect(readChoice("tiled,y,y", tried)).toEqual({ variant: "tiled", across: "y", down: "x" });
  });

  it("has the fastest candidate of two values in each cell, with the best and the default marked", () => {
    const { columns, rows, cells, others } = layOutLandscape(tried, readChoice(null, tried));
    expect([columns, rows, others]).toEqual([[1, 2], [4, 8], ["z"]]);
    expect(cells.map((line) => line.map(({ ms }) => ms))).toEqual([
      [8, null],
      [null, 1],
    ]);
    expect(cells[0]?.map(({ outcome }) => outcome)).toEqual(["timed", "invalid"]);
    expect(cells[1]?.[0]?.outcome).toBeNull();
    expect(cells[0]?.[0]).toMatchObject({ isDefault: true, isBest: false, shade: 0 });
    expect(cells[1]?.[1]).toMatchObject({ isDefault: false, isBest: true, shade: 9 });
  });

  it("along one axis is one row", () => {
    const { rows, cells } = layOutLandscape(tried, { variant: "tiled", across: "z", down: null });
    expect(rows).toHaveLength(1);
    expect(cells[0]?.map(({ ms }) => ms)).toEqual([1, 4]);
  });
});
