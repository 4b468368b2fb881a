import { expect, it } from "vitest";
import { PrincipalCache } from "../../../../src/edge/http/principal-cache.ts";

const entry = (project: string) => ({ principal: { project } });

it("a project with many keys displaces its own oldest, and none of another", () => {
  const cache = new PrincipalCache(8);
  cache.keep("theirs", entry("b"));
  for (let key = 0; key < 100; key++) cache.keep(`mine-${key}`, entry("a"));
  expect(cache.get("theirs")).toEqual(entry("b"));
  const kept = Array.from({ length: 100 }, (_, key) => key).filter((key) => cache.get(`mine-${key}`) !== undefined);
  expect(kept).toEqual([93, 94, 95, 96, 97, 98, 99]);
});

it("an entry that is kept again is the newest, and dropped ones leave room", () => {
  const cache = new PrincipalCache(2);
  cache.keep("first", entry("a"));
  cache.keep("second", entry("a"));
  cache.keep("first", entry("a"));
  cache.keep("third", entry("a"));
  expect([cache.get("first"), cache.get("second")]).toEqual([entry("a"), undefined]);
  cache.drop("first");
  cache.drop("unknown");
  cache.keep("fourth", entry("a"));
  expect(cache.get("third")).toEqual(entry("a"));
  cache.clear();
  expect(cache.get("third")).toBeUndefined();
});
