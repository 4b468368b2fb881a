import { describe, expect, it } from "vitest";
import { decodeCheckpoint, encodeCheckpoint } from "../../../../src/gpu-runner/training/checkpoint-file.ts";

const CHECKPOINT = {
  environmentDigest: "sha256:ab",
  state: {
    generations: 4,
    steps: 1e9,
    evaluations: 512,
    elapsedMs: 12.5,
    solvedAtGeneration: null,
    curve: [{ generation: 4, steps: 1e9, best: 2, mean: 1, fresh: null }],
    best: { generation: 4, mean: 1.25, policy: Float32Array.of(1, 2, 3) },
  },
  strategy: {
    mean: Float64Array.of(0.1, Math.PI, -0),
    rows: Float32Array.of(1.5, Number.NaN),
    species: Uint32Array.of(7, 2 ** 32 - 1),
    none: new Float64Array(0),
  },
};

describe("a checkpoint's file", () => {
  it("gives back what was put in, to the bit", () => {
    expect(decodeCheckpoint(encodeCheckpoint(CHECKPOINT))).toEqual(CHECKPOINT);
  });

  it("does so from the middle of other bytes", () => {
    const file = encodeCheckpoint({ ...CHECKPOINT, state: { ...CHECKPOINT.state, best: null } });
    const around = new Uint8Array(file.length + 3);
    around.set(file, 3);
    expect(decodeCheckpoint(around.subarray(3))).toMatchObject({
      state: { best: null },
      strategy: CHECKPOINT.strategy,
    });
  });

  it("is a safetensors file", () => {
    const file = encodeCheckpoint(CHECKPOINT);
    const length = Number(new DataView(file.buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
    expect(length % 8).toBe(0);
    expect(header["strategy.mean"]).toEqual({ dtype: "F64", shape: [3], data_offsets: [0, 24] });
    expect(header["best.policy"]).toMatchObject({ dtype: "F32", shape: [3] });
    const ends = Object.values<{ data_offsets?: number[] }>(header).map(({ data_offsets: at }) => at?.[1] ?? 0);
    expect(8 + length + Math.max(...ends)).toBe(file.length);
  });

  it.each([
    ["nothing", new Uint8Array(0), RangeError],
    ["other bytes", new Uint8Array(64).fill(65), SyntaxError],
    ["half of one", encodeCheckpoint(CHECKPOINT).subarray(0, 100), SyntaxError],
    ["one without its last bytes", encodeCheckpoint(CHECKPOINT).slice(0, -3), RangeError],
  ])("is refused where it is %s", (_, file, error) => {
    expect(() => decodeCheckpoint(file)).toThrow(error);
  });
});
