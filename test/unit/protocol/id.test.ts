import { fc } from "../property.ts";
import { describe, expect, it } from "vitest";
import { createContentId, createId, ID_PREFIXES, type IdKind, idSchema } from "../../../src/protocol/wire/id.ts";

const kinds = Object.keys(ID_PREFIXES) as IdKind[];
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("an id", () => {
  it("is of its kind alone", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.constantFrom(...kinds), time, (kind, other, nowMs) => {
        const id = createId(kind, nowMs);
        expect(idSchema(other).safeParse(id).success).toBe(kind === other);
      }),
    );
  });

  it("sorts by the time of its making", () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a !== b);
        expect(createId("job", a) < createId("job", b)).toBe(a < b);
      }),
    );
  });

  it("is another one every time", () => {
    expect(new Set(Array.from({ length: 1_000 }, () => createId("run", 0))).size).toBe(1_000);
  });

  it("of content is the same for the same content", async () => {
    const id = await createContentId("series", "a");
    expect(idSchema("series").safeParse(id).success).toBe(true);
    expect(await createContentId("series", "a")).toBe(id);
    expect(await createContentId("series", "b")).not.toBe(id);
  });
});
