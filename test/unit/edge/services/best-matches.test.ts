import { expect, it } from "vitest";
import { BestMatches } from "../../../../src/edge/services/item-memories.ts";
import { fc } from "../../property.ts";

it("the best matches are those of a sorted list, with the first of equals, and no others are added", () => {
  const scores = fc.array(fc.oneof(fc.constantFrom(-1, 0, 0.5), fc.float({ noNaN: true, min: -1, max: 1 })));
  fc.assert(
    fc.property(scores, fc.integer({ min: 1, max: 10 }), (similarities, limit) => {
      const matches = similarities.map((similarity, key) => ({ key, similarity }));
      const best = new BestMatches<{ key: number; similarity: number }>(limit);
      for (const match of matches) if (best.wants(match.similarity)) best.add(match);
      expect(best.inOrder()).toEqual(matches.toSorted((a, b) => b.similarity - a.similarity).slice(0, limit));
    }),
  );
});

it("of many, only those better than enough others are wanted", () => {
  const best = new BestMatches<{ similarity: number }>(4);
  let added = 0;
  for (let item = 0; item < 10_000; item++) {
    const similarity = 1 / (1 + item);
    if (!best.wants(similarity)) continue;
    best.add({ similarity });
    added++;
  }
  expect(added).toBe(8);
});
