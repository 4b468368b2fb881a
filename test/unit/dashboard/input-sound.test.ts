import { describe, expect, it } from "vitest";
import { fitSound, outlineSound, readSoundLength } from "../../../src/dashboard/models/input-sound.ts";

describe("a sound as an input", () => {
  it.each([
    [[-1, 1, 512], 512],
    [[1, 16_000], 16_000],
    [[-1, -1], 0],
    [[-1], null],
    [[-1, 4], null],
    [[-1, 40, 20], null],
    [[-1, 3, 512], null],
    [[-1, 1, 28, 28], null],
  ])("fits %j for so many samples: %j", (shape, length) => {
    expect(readSoundLength(shape)).toBe(length);
  });

  it("is cut, or filled up with silence", () => {
    const samples = Float32Array.of(0.5, 0.25, -0.5);
    expect([...fitSound(samples, 2)]).toEqual([0.5, 0.25]);
    expect([...fitSound(samples, 5)]).toEqual([0.5, 0.25, -0.5, 0, 0]);
    expect(fitSound(samples, 0)).toBe(samples);
  });

  it("is outlined by the extremes of its parts", () => {
    const samples = Float32Array.of(0, 1, -1, 0.5, 0.25, -0.25);
    expect(outlineSound(samples, 2)).toEqual([
      { low: -1, high: 1 },
      { low: -0.25, high: 0.5 },
    ]);
    expect(outlineSound(new Float32Array(0), 2)).toEqual([]);
  });
});
