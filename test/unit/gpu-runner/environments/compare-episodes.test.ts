import { expect, it } from "vitest";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { compareEpisodes } from "../../../../src/gpu-runner/environments/compare-episodes.ts";

const lengths = Array.from({ length: 64 }, (_, index) => 100 + index);
const returns = lengths.map((length) => 2 * length);
const expected = { lengths, returns };
const noise = seededUniform(1, 0, 64, 20);

it("takes equal episodes, and those that differ by rounding", () => {
  const found = { lengths, returns: returns.map((each) => each * (1 + 1e-6)) };
  expect(compareEpisodes("cartpole", expected, expected)).toEqual({ sameEpisodes: 1, meanReturn: 263 });
  expect(compareEpisodes("cartpole", found, expected).sameEpisodes).toBe(1);
});

it("takes episodes of chaotic motion that differ one by one, but not on average", () => {
  const found = { lengths, returns: returns.map((each, index) => each + noise[index]!) };
  expect(compareEpisodes("cheetah", found, expected).meanReturn).not.toBe(263);
  expect(() => compareEpisodes("cartpole", found, expected)).toThrow("0 of 64 episodes of cartpole are the same");
});

it.each([
  ["lengths", { lengths: [0, 0, 0, 8], returns: [1, 1, 1, 1] }],
  ["one length", { lengths: [8, 8, 8, 800], returns: [1, 1, 1, 1] }],
  ["returns", { lengths: [8, 8, 8, 8], returns: [1, 0, 0, 0] }],
])("refuses a few episodes of wrong %s, whose means say nothing", (_, found) => {
  const few = { lengths: [8, 8, 8, 8], returns: [1, 1, 1, 1] };
  expect(() => compareEpisodes("breakout-rendered", found, few)).toThrow("and at least 4 have to be");
});

it.each([
  ["returns", { lengths, returns: returns.map((each, index) => each + noise[index]! + 10) }],
  ["returns", { lengths, returns: returns.map((each, index) => (index === 3 ? Number.NaN : each)) }],
  ["lengths", { returns, lengths: lengths.map((each) => each + 1) }],
  ["lengths", { returns, lengths: lengths.slice(1) }],
])("refuses other %s", (name, found) => {
  expect(() => compareEpisodes("cheetah", found, expected)).toThrow(`The ${name} of 64 episodes differ by`);
});
