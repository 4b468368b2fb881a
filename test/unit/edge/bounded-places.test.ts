import { describe, expect, it } from "vitest";
import { BoundedPlaces } from "../../../src/edge/bounded-places.ts";

const bounds = { ofOne: 2, ofAll: 3, leaseMs: 1_000 };

describe("bounded places", () => {
  it("has some for each holder, and leaves the last to one that has none", () => {
    const places = new BoundedPlaces({ ...bounds, ofAll: 4 });
    const first = places.enter("a", 0);
    expect(first).not.toBeNull();
    expect(places.enter("a", 0)).not.toBeNull();
    expect(places.enter("a", 0)).toBeNull();
    expect(places.enter("b", 0)).not.toBeNull();
    expect(places.enter("b", 0)).toBeNull();
    expect(places.enter("c", 0)).not.toBeNull();
    expect(places.enter("d", 0)).toBeNull();
    places.leave(first!);
    places.leave(first!);
    expect(places.enter("d", 0)).not.toBeNull();
    expect(places.enter("e", 0)).toBeNull();
  });

  it("may be counts of bytes, of which a place gives some back", () => {
    const places = new BoundedPlaces({ ...bounds, ofOne: 100, ofAll: 150 });
    const place = places.enter("a", 0, 90)!;
    expect([places.enter("a", 0, 11), places.hasRoom("a", 0, 10), places.enter("b", 0, 61)]).toEqual([
      null,
      true,
      null,
    ]);
    expect(places.resize(place, 50, 0)).toBe(true);
    const room = (holder: string, bytes: number) => places.hasRoom(holder, 0, bytes);
    expect([room("a", 51), room("a", 50), room("b", 100)]).toEqual([false, true, true]);
    expect([places.resize(place, 101, 0), places.resize(place, 100, 0), room("a", 1)]).toEqual([false, true, false]);
    places.leave(place);
    expect([places.resize(place, 10, 0), room("a", 100), room("a", 101)]).toEqual([false, true, false]);
  });

  it("passes over one that wants more than there is, for those of its own holder too", () => {
    const room = new BoundedPlaces({ ofOne: 100, ofAll: 200, leaseMs: 1_000 });
    const line = new BoundedPlaces({ ofOne: 9, ofAll: 9, leaseMs: 1_000 });
    room.enter("a", 0, 30);
    const [large, small, other] = [line.enter("a", 0, 1, 80)!, line.enter("a", 0, 1, 70)!, line.enter("b", 0, 1, 10)!];
    const takesTurn = (place: object) => line.takeTurn(place, 0, (holder, wanted) => room.hasRoom(holder, 0, wanted));
    expect([large, other, small].map(takesTurn)).toEqual([false, false, true]);
    line.leave(small);
    expect([large, other].map(takesTurn)).toEqual([false, true]);
  });

  it("gives a place back whose holder never said that it left", () => {
    const places = new BoundedPlaces({ ...bounds, ofOne: 1 });
    expect(places.enter("a", 0)).not.toBeNull();
    expect(places.enter("a", 999)).toBeNull();
    expect(places.enter("a", 1_000)).not.toBeNull();
  });

  it("lets holders take turns, of each the first that came, and passes over those that have no room", () => {
    const places = new BoundedPlaces({ ...bounds, ofOne: 3, ofAll: 20 });
    const waiting = new Map<object, string>();
    const come = (name: string) => waiting.set(places.enter(name[0]!, 0)!, name);
    /** Those that come latest look first. */
    const serve = (full = "") => {
      const looking = [...waiting.keys()].toReversed();
      const next = looking.find((place) => places.takeTurn(place, 1, (holder) => !full.includes(holder)))!;
      const name = waiting.get(next);
      waiting.delete(next);
      places.leave(next);
      return name;
    };
    for (const name of ["a1", "a2", "a3", "b1", "b2"]) come(name);
    expect([serve(), serve(), serve("a"), serve()]).toEqual(["a1", "b1", "b2", "a2"]);
    for (const name of ["c1", "b3"]) come(name);
    expect([serve(), serve(), serve()]).toEqual(["c1", "b3", "a3"]);
    // One that has just had its turn waits behind one that came before.
    for (const name of ["c2", "a4"]) come(name);
    expect([serve(), serve()]).toEqual(["c2", "a4"]);
  });

  it("serves no holder whose request looks no more", () => {
    const places = new BoundedPlaces(bounds);
    const [gone, other] = [places.enter("a", 0)!, places.enter("b", 0)!];
    const looks = (nowMs: number) => places.takeTurn(other, nowMs, () => true);
    expect([looks(500), looks(999), looks(1_000)]).toEqual([false, false, true]);
    expect(places.takeTurn(gone, 1_000, () => true)).toBe(false);
  });
});
