import { expect, it } from "vitest";
import { FairPlaces } from "../../../src/protocol/inference/fair-places.ts";

const fill = (places: FairPlaces<string>, holder: string) => {
  let taken = 0;
  while (places.take(holder)) taken++;
  return taken;
};

it("leaves an eighth to others, and each of them some to the next", () => {
  const places = new FairPlaces<string>(64);
  expect(fill(places, "a")).toBe(56);
  expect(fill(places, "b")).toBe(7);
  expect(fill(places, "c")).toBe(1);
  expect(places.take("d")).toBe(false);
});

it("has all places again once they were given back", () => {
  const places = new FairPlaces<string>(64);
  fill(places, "a");
  fill(places, "b");
  for (let count = 0; count < 56; count++) places.giveBack("a");
  expect(fill(places, "b")).toBe(56 - 7);
  for (let count = 0; count < 56; count++) places.giveBack("b");
  expect(fill(places, "a")).toBe(56);
});

it("counts amounts, and lets one that has none take all that is free", () => {
  const places = new FairPlaces<string>(32);
  expect(places.take("a", 24)).toBe(true);
  expect(places.take("a", 8)).toBe(false);
  expect(places.take("b", 9)).toBe(false);
  expect(places.take("b", 8)).toBe(true);
  places.giveBack("a", 24);
  expect(places.take("a", 24)).toBe(true);
});
