import { describe, expect, it } from "vitest";
import { centredRanks, sampleOpenEs, startOpenEs, updateOpenEs } from "./open-es.ts";

const settings = { seed: 1, population: 64, sigma: 0.1, learningRate: 0.05 };

describe("OpenES", () => {
  it("mirrors every second member round the centre and repeats itself", () => {
    const start = startOpenEs(7);
    const members = sampleOpenEs(start, settings);
    for (let pair = 0; pair < 32; pair++)
      expect(members[2 * pair]).toEqual(members[2 * pair + 1]!.map((value) => 0 - value));
    expect(sampleOpenEs(start, settings)).toEqual(members);
    expect(sampleOpenEs(start, { ...settings, seed: 2 })).not.toEqual(members);
  });

  it("draws noise of the stated spread", () => {
    const values = sampleOpenEs(startOpenEs(500), settings).flatMap((member) => [...member]);
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
    expect(deviation).toBeCloseTo(settings.sigma, 2);
  });

  it("climbs to the top of a paraboloid", () => {
    const top = [0.5, -1, 0.25];
    let search = startOpenEs(top.length);
    for (let generation = 0; generation < 200; generation++) {
      const fitness = sampleOpenEs(search, settings).map(
        (member) => -top.reduce((sum, goal, i) => sum + (member[i]! - goal) ** 2, 0),
      );
      search = updateOpenEs(search, fitness, settings);
    }
    top.forEach((goal, i) => expect(Math.abs(search.centre[i]! - goal)).toBeLessThan(0.1));
  });

  it("stands still where all members are equal", () => {
    const flat = Array.from({ length: settings.population }, () => 500);
    const search = updateOpenEs(startOpenEs(3), flat, settings);
    search.centre.forEach((value) => expect(value).toBe(0));
  });
});

describe("centredRanks", () => {
  it("runs from -0.5 to 0.5 and lets equals share", () => {
    expect(centredRanks([3, 1, 2])).toEqual([0.5, -0.5, 0]);
    expect(centredRanks([1, 9, 9, 0])).toEqual([1 / 3 - 0.5, 2.5 / 3 - 0.5, 2.5 / 3 - 0.5, -0.5]);
  });
});
