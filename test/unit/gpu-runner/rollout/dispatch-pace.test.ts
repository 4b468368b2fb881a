import { describe, expect, it } from "vitest";
import { DispatchPace, LaneSearch } from "../../../../src/gpu-runner/rollout/gpu/dispatch-tuning.ts";

describe("the pace of dispatches", () => {
  it("takes as many steps again as episodes have gone, within bounds", () => {
    const pace = new DispatchPace();
    expect(pace.stepsFor(1_000, 0)).toBe(16);
    pace.note(16, 1_000, 1);
    expect([0, 16, 32, 100, 256, 5_000].map((taken) => pace.stepsFor(1_000, taken))).toEqual([
      16, 16, 32, 100, 256, 256,
    ]);
  });

  it("takes fewer where they are dear, and one at least", () => {
    const pace = new DispatchPace();
    pace.note(16, 1_000, 160);
    expect(pace.stepsFor(1_000, 256)).toBe(20);
    expect(pace.stepsFor(10_000, 256)).toBe(2);
    expect(pace.stepsFor(1_000_000, 256)).toBe(1);
  });

  it("forgets a dear dispatch when others were cheap", () => {
    const pace = new DispatchPace();
    pace.note(16, 1_000, 160);
    for (let times = 0; times < 30; times++) pace.note(16, 1_000, 1);
    expect(pace.stepsFor(1_000, 256)).toBe(256);
  });
});

describe("the search for lanes", () => {
  const STEPS = 2 ** 20;
  /** Choice where a wave lasts this long with each. */
  function chosenBy(elapsedMs: (lanes: number) => number, waves: number): number[] {
    const search = new LaneSearch();
    return Array.from({ length: waves }, () => {
      const { lanes } = search;
      search.note(lanes, STEPS, elapsedMs(lanes));
      return lanes;
    });
  }

  it("tries each twice once much was played, and stays with the fastest", () => {
    const chosen = chosenBy((lanes) => (lanes === 128 ? 80 : 100), 20);
    expect(chosen.slice(0, 8)).toEqual(Array(8).fill(64));
    expect(chosen.slice(8, 16)).toEqual([64, 64, 32, 32, 128, 128, 256, 256]);
    expect(chosen.slice(16)).toEqual(Array(4).fill(128));
  });

  it("stays with the usual where another gains little", () => {
    expect(chosenBy((lanes) => (lanes === 256 ? 98 : 100), 20).slice(16)).toEqual(Array(4).fill(64));
  });
});
