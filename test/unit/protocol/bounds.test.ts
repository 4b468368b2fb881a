import { describe, expect, it } from "vitest";
import { faultFields } from "../../../src/protocol/fault.ts";
import { fromShapeText, toShapeText } from "../../../src/protocol/leaderboard.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { MemoryReport } from "../../../src/protocol/memory.ts";
import { memoryReport } from "../../edge/samples.ts";

const repeat = <Item>(item: Item, count: number) => Array.from({ length: count }, () => item);

describe("a list of the wire", () => {
  it("of tiers has room for a tier of each device and those of the runner, and no more", () => {
    const [tier] = memoryReport.tiers;
    const isTaken = (tiers: number, pools: number) =>
      MemoryReport.safeParse({
        ...memoryReport,
        tiers: repeat(tier, tiers),
        pools: repeat(memoryReport.pools[0], pools),
      }).success;
    expect(isTaken(LIMITS.devices + 3, LIMITS.devices)).toBe(true);
    expect(isTaken(LIMITS.devices + 4, LIMITS.devices)).toBe(false);
    expect(isTaken(1, LIMITS.devices + 1)).toBe(false);
  });

  it("of faults ends at its limit", () => {
    const fault = { code: "device-lost", detail: "It died.", action: "retried" };
    expect(faultFields.faults.safeParse(repeat(fault, LIMITS.faults)).success).toBe(true);
    expect(faultFields.faults.safeParse(repeat(fault, LIMITS.faults + 1)).success).toBe(false);
  });
});

describe("a shape as text", () => {
  it.each([{}, { n: 1 }, { n: 512, m: 3, k_2: 65_536 }])("gives back %j", (shape) => {
    expect(fromShapeText(toShapeText(shape))).toEqual(shape);
  });
});
