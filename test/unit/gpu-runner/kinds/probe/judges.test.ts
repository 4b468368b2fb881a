import { describe, expect, it } from "vitest";
import {
  atomicsFound,
  floatsWrong,
  halvesWrong,
  integersWrong,
  subgroupsFound,
} from "../../../../../src/gpu-runner/kinds/probe/judge-arithmetic.ts";
import { checkClaim } from "../../../../../src/gpu-runner/kinds/probe/claim.ts";
import { judgeCores } from "../../../../../src/gpu-runner/kinds/probe/measure-cores.ts";
import { judgeWidth } from "../../../../../src/gpu-runner/kinds/probe/measure-width.ts";
import { judgeHost, judgeSpeed } from "../../../../../src/gpu-runner/kinds/probe/speed-claims.ts";
import { judgeTicks } from "../../../../../src/gpu-runner/kinds/probe/timestamp-claims.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";

describe("integers", () => {
  const pairs = Uint32Array.of(0xffff_ffff, 2);
  const right = [1, 0xffff_fffd, 0xffff_fffe, 0x7fff_ffff, 0, 0xffff_ffff, 32 ^ 0x4000_0000, 1];

  it("are right as WGSL has them", () => expect(integersWrong(pairs, Uint32Array.from(right))).toBeNull());

  it.each(right.keys().toArray())("are wrong where result %i is", (place) => {
    const found = Uint32Array.from(right.with(place, right[place]! ^ 1));
    expect(integersWrong(pairs, found)).toContain("for a = 4294967295, b = 2");
  });

  it("divide by zero, and the smallest number by -1, to the dividend", () => {
    expect(integersWrong(Uint32Array.of(7, 0), Uint32Array.of(7, 7, 0, 7, 7, 7, 3, 0))).toBeNull();
    const found = Uint32Array.of(0x7fff_ffff, 0x8000_0001, 0x8000_0000, 0, 0x8000_0000, 0xffff_ffff, 0xffff_fffe, 1);
    expect(integersWrong(Uint32Array.of(0x8000_0000, 0xffff_ffff), found)).toBeNull();
  });
});

describe("floats", () => {
  const given = Float32Array.of(3, 7, -20, 0);
  const right = [10, -4, 21, Math.fround(3 / 7), 1, Math.fround(Math.sqrt(3))];

  it("may be as far off as WGSL allows", () => {
    expect(floatsWrong(given, Float32Array.from(right))).toBeNull();
    expect(floatsWrong(given, Float32Array.from(right.with(3, 3 / 7 + 2 ** -24)))).toBeNull();
  });

  it.each(right.keys().toArray())("may not be further off in result %i", (place) => {
    const found = Float32Array.from(right.with(place, right[place]! * (1 + 2 ** -15)));
    expect(floatsWrong(given, found)).toContain("for x = 3, y = 7, z = -20");
    expect(floatsWrong(given, Float32Array.from(right.with(place, Number.NaN)))).not.toBeNull();
  });
});

describe("halves", () => {
  const given = Float32Array.of(1.5, 2.5, 0.25, 0);

  it("are right within a unit in the last place", () => {
    expect(halvesWrong(given, Float32Array.of(4, -1, 3.75, 4))).toBeNull();
    expect(halvesWrong(given, Float32Array.of(4, -1, 3.75, 3.98))).toContain("is no half");
    expect(halvesWrong(given, Float32Array.of(4, -1, 3.5, 4))).toContain("x * y is 3.5");
  });

  it("are none where results are finer than halves", () => {
    expect(halvesWrong(given, Float32Array.of(4 + 2 ** -12, -1, 3.75, 4))).toContain("is no half");
  });
});

describe("atomics and subgroups", () => {
  const lanes = (
    width: number,
    size: number,
    change: (lane: number, words: number[]) => number[] = (_, words) => words,
  ) =>
    Uint32Array.from(
      Array.from({ length: 8 }, (_, lane) => {
        const first = lane - (lane % width);
        const values = Array.from({ length: width }, (__, index) => (first + index) ** 2 + 1);
        const sum = values.reduce((total, value) => total + value, 0);
        return change(lane, [size, first, sum, Math.max(...values)]);
      }).flat(),
    );

  it("count every invocation", () => {
    const mixed = [0, 1, 2, 3].reduce((bits, at) => bits ^ Math.imul(at, 2_654_435_761), 0) >>> 0;
    expect(atomicsFound(Uint32Array.of(4, 3, mixed, 6), 4).ok).toBe(true);
    expect(atomicsFound(Uint32Array.of(3, 3, mixed, 6), 4)).toEqual({ found: "3 of 4 are counted", ok: false });
    expect(atomicsFound(Uint32Array.of(4, 3, mixed, 5), 4).ok).toBe(false);
  });

  it("sum over the lanes that they say they have", () => {
    expect(subgroupsFound(lanes(4, 4))).toEqual({ found: "subgroups of 4 lanes", ok: true });
    expect(subgroupsFound(lanes(8, 32))).toEqual({ found: "subgroups of 32 lanes", ok: true });
    expect(subgroupsFound(lanes(8, 4)).found).toBe("8 lanes share a subgroup of 4");
    expect(subgroupsFound(lanes(4, 6)).ok).toBe(false);
    const wrong = lanes(4, 4, (lane, words) => (lane === 5 ? words.with(2, 1) : words));
    expect(subgroupsFound(wrong)).toMatchObject({ ok: false, found: expect.stringContaining("lane 5 sums 1") });
  });
});

describe("timestamps", () => {
  const ticks = (...spans: [number, number][]) =>
    spans.map(([beginMs, endMs]) => ({ beginNs: BigInt(beginMs * 1e6), endNs: BigInt(endMs * 1e6) }));

  const judge = (wallMs: [number, number], ...spans: [number, number][]) =>
    judgeTicks({ ticks: ticks(...spans), leastMs: wallMs[0], mostMs: wallMs[1] });

  it("go forward at the pace of time", () => {
    expect(judge([3, 6], [0, 1], [2, 3], [4, 5]).ok).toBe(true);
    expect(judge([3, 6], [0, 1], [2, 1.5], [4, 5]).ok).toBe(false);
    expect(judge([3, 6], [0, 3], [2, 3], [4, 5]).found).toContain("1 of 3 out of order");
    expect(judge([3, 6], [0, 1], [2, 3], [400, 401]).ok).toBe(false);
    expect(judge([3, 6], [0, 0], [0, 0], [0, 0]).ok).toBe(false);
  });

  it("are believed where the runner was held up between its own clock and the device", () => {
    expect(judge([3, 600], [0, 1], [2, 3], [500, 501]).ok).toBe(true);
    expect(judge([-5, 600], [0, 1], [1, 2], [2, 3]).ok).toBe(true);
  });
});

describe("speed", () => {
  it("is that of the stored roofs within a factor, unless an emulation shares its cores", () => {
    expect(judgeSpeed(26, 100, "GB/s", 0).ok).toBe(true);
    expect(judgeSpeed(24, 100, "GB/s", 0)).toEqual({ found: "24.0 GB/s, 24 % of it", ok: false });
    expect(judgeSpeed(24, 100, "GB/s", 1)).toMatchObject({ ok: true, found: expect.stringContaining("not judged") });
  });

  it("is no GPU's where the host's cores do the work", () => {
    expect(judgeHost(0.02).ok).toBe(true);
    expect(judgeHost(0.9).ok).toBe(false);
  });
});

describe("the CPU", () => {
  it("has its cores where so many threads are faster than one, or others have them", () => {
    const times = { aloneMs: 80, togetherMs: 10, othersCores: 0 };
    expect(judgeCores(times, 16).ok).toBe(true);
    expect(judgeCores(times, 64)).toEqual({ found: "8.0 times as fast as one thread", ok: false });
    expect(judgeCores({ ...times, othersCores: 50 }, 64)).toMatchObject({ ok: true });
  });

  it("has wide registers as far as its speed shows", () => {
    expect(judgeWidth(120, 3_000).found).toContain("more than AVX2 can do");
    expect(judgeWidth(60, 3_000)).toMatchObject({
      ok: true,
      found: expect.stringContaining("narrow registers can do"),
    });
    expect(judgeWidth(18, 3_000)).toMatchObject({ ok: true, found: expect.stringContaining("not enough to tell") });
    expect(judgeWidth(6, 3_000).ok).toBe(false);
  });
});

describe("a claim", () => {
  const claim = { claim: "c".repeat(200), claimed: "d".repeat(200) };

  it("does not hold where the device cannot", async () => {
    const find = () => Promise.reject(new ProblemError("kernel-invalid", "e".repeat(300)));
    expect(await checkClaim({ ...claim, find })).toEqual({
      claim: "c".repeat(128),
      claimed: "d".repeat(128),
      found: "e".repeat(256),
      ok: false,
    });
  });

  it("is not judged where the probe was cancelled or the device is gone", async () => {
    const find = () => Promise.reject(new ProblemError("cancelled", "enough"));
    await expect(checkClaim({ ...claim, find })).rejects.toThrow("enough");
  });
});
