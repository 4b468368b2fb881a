import { expect, test } from "vitest";
import { lehmer } from "../../../../src/stats/random/seeded.ts";

test("the state after 10,000 draws from 1 is the one that its authors give", () => {
  const draw = lehmer(1);
  let last = 0;
  for (let i = 0; i < 10_000; i++) last = draw();
  expect(Math.round(last * 0x7fffffff)).toBe(399_268_537);
});

test("the same seed gives the same numbers", () => {
  const [one, other] = [lehmer(), lehmer()];
  for (let i = 0; i < 100; i++) expect(one()).toBe(other());
});
