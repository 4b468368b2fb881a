import { describe, expect, it } from "vitest";
import { BoundedPlaces } from "../../../../src/edge/http/heavy-places.ts";

const bounds = { ofOne: 2, ofAll: 3, leaseMs: 1_000 };

describe("bounded places", () => {
  it("has some for each holder, and some for all", () => {
    const places = new BoundedPlaces(bounds);
    const first = places.enter("a", 0);
    expect(first).not.toBeNull();
    expect(places.enter("a", 0)).not.toBeNull();
    expect(places.enter("a", 0)).toBeNull();
    expect(places.enter("b", 0)).not.toBeNull();
    expect(places.enter("c", 0)).toBeNull();
    places.leave(first!);
    expect(places.enter("c", 0)).not.toBeNull();
  });

  it("gives a place back whose holder never said that it left", () => {
    const places = new BoundedPlaces({ ...bounds, ofOne: 1 });
    expect(places.enter("a", 0)).not.toBeNull();
    expect(places.enter("a", 999)).toBeNull();
    expect(places.enter("a", 1_000)).not.toBeNull();
  });

  it("knows who came first of the same holder", () => {
    const places = new BoundedPlaces(bounds);
    const [first, other, second] = [places.enter("a", 0)!, places.enter("b", 1)!, places.enter("a", 2)!];
    expect([first, other, second].map((place) => places.isFirst(place, 3))).toEqual([true, true, false]);
    places.leave(first);
    expect([first, second].map((place) => places.isFirst(place, 3))).toEqual([false, true]);
  });
});
