import { describe, expect, it } from "vitest";
import { chooseDevice, shareWork, updateSpeed } from "../../../../src/gpu-runner/serving/share-work.ts";
import { fc } from "../../property.ts";

const speed = fc.option(fc.double({ min: 0.001, max: 1_000, noNaN: true }), { nil: null });
const speeds = fc.array(speed, { minLength: 1, maxLength: 15 });

describe("shares of a batch", () => {
  it("add up to it, and each is off its proportion by less than one", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), speeds, (items, known) => {
        const shares = shareWork(items, known);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(items);
        const measured = known.filter((each) => each !== null);
        const average = measured.length === 0 ? 1 : measured.reduce((sum, each) => sum + each, 0) / measured.length;
        const total = known.reduce((sum: number, each) => sum + (each ?? average), 0);
        for (const [index, share] of shares.entries()) {
          expect(Number.isInteger(share)).toBe(true);
          expect(Math.abs(share - (items * (known[index] ?? average)) / total)).toBeLessThan(1.000_001);
        }
      }),
    );
  });

  it("are equal where nothing was measured, and follow what was", () => {
    expect(shareWork(10, [null, null])).toEqual([5, 5]);
    expect(shareWork(12, [1, 3])).toEqual([3, 9]);
    expect(shareWork(12, [2, 4, null])).toEqual([3, 5, 4]);
    expect(shareWork(1, [1, 1_000])).toEqual([0, 1]);
  });

  it("come to the right proportion as measurements come, and follow a device that slows down", () => {
    let believed: (number | null)[] = [null, null];
    const measure = (actual: readonly [number, number]) => {
      believed = believed.map((each, index) => updateSpeed(each, actual[index] ?? 0));
      return shareWork(400, believed);
    };
    expect(measure([1, 3])).toEqual([100, 300]);
    let shares = [0, 0];
    for (let i = 0; i < 12; i++) shares = measure([1, 1]);
    expect(shares).toEqual([200, 200]);
  });
});

describe("the device for a job", () => {
  it("is the one that is likely to be done first", () => {
    const slowIdle = { key: "slow", waiting: 0, speed: 1 };
    const fastBusy = { key: "fast", waiting: 1, speed: 4 };
    expect(chooseDevice([slowIdle, fastBusy])?.key).toBe("fast");
    expect(chooseDevice([slowIdle, { ...fastBusy, waiting: 4 }])?.key).toBe("slow");
    expect(chooseDevice([])).toBeUndefined();
  });

  it("is the first of equals, and one that was never measured counts as the fastest", () => {
    const device = (key: string, waiting: number, known: number | null) => ({ key, waiting, speed: known });
    expect(chooseDevice([device("a", 0, null), device("b", 0, null)])?.key).toBe("a");
    expect(chooseDevice([device("a", 1, null), device("b", 0, null)])?.key).toBe("b");
    expect(chooseDevice([device("a", 0, 2), device("b", 0, 8), device("c", 0, null)])?.key).toBe("b");
    expect(chooseDevice([device("a", 0, 2), device("b", 1, 8), device("c", 0, null)])?.key).toBe("c");
  });
});
