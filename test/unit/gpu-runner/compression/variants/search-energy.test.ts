import { describe, expect, it } from "vitest";
import { searchEnergy } from "../../../../../src/gpu-runner/compression/variants/apply-recipe.ts";

/** Trials by the value of an energy; above `mostSaving` nothing becomes smaller. */
function play(fidelityOf: (energy: number) => number, mostSaving = 1) {
  const tried: number[] = [];
  const tryEnergy = async (energy: number) => {
    tried.push(energy);
    return { fidelity: fidelityOf(energy), saves: energy < mostSaving };
  };
  return { tried, tryEnergy };
}

describe("the search for an energy", () => {
  it("ends a little above the least that is good enough", async () => {
    const { tried, tryEnergy } = play((energy) => energy);
    const found = await searchEnergy(tryEnergy, 0.9);
    expect(found?.energy).toBeGreaterThanOrEqual(0.9);
    expect(found?.energy).toBeLessThan(0.91);
    expect(tried.filter((energy) => energy >= 0.9).every((energy) => energy >= found!.energy)).toBe(true);
  });

  it("takes what is good enough at any energy at the lowest", async () => {
    expect((await searchEnergy(play(() => 1).tryEnergy, 0.9))?.energy).toBeLessThan(0.1);
  });

  it("finds what saves below an energy that saves nothing, and nothing where there is none", async () => {
    const found = await searchEnergy(play((energy) => energy, 0.7).tryEnergy, 0.6);
    expect(found?.energy).toBeGreaterThanOrEqual(0.6);
    expect(found?.energy).toBeLessThan(0.7);
    expect(await searchEnergy(play((energy) => energy, 0.7).tryEnergy, 0.8)).toBeNull();
    expect(await searchEnergy(play(() => 0).tryEnergy, 0.1)).toBeNull();
  });
});
