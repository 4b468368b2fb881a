import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PointsReply } from "../../../src/protocol/history/history.ts";
import { callEdge, pointersOf } from "../stack/edge-client.ts";
import { append, idOf, measured } from "./history-samples.ts";

const START_MS = Date.parse("2026-05-01T00:00:00.000Z");
/** Few instants, so that many points share one. */
const moments = fc.array(fc.nat(6), { maxLength: 12 });
const plan = fc.record({
  first: fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }),
  between: fc.array(moments, { maxLength: 12 }),
  limit: fc.integer({ min: 1, max: 7 }),
});

/** All pages of a list, with an event after each; the page after the last is requested, too. */
async function readAll<Page extends { nextCursor: string | null }>(
  path: string,
  between: (page: number) => Promise<void>,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const reply = await callEdge("GET", `${path}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
    expect(reply.status).toBe(200);
    const page = reply.json as Page;
    await between(pages.length);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

describe("pages", () => {
  it("of points neither skip nor repeat one, whatever comes between", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(plan, async ({ first, between, limit }) => {
        const key = { subject: `paged-${round++}` };
        let value = 0;
        // The value of each point identifies it.
        const add = (times: readonly number[]) =>
          append(...times.map((ms) => measured(key, START_MS + ms * 1_000, [++value])));
        await add(first);
        const series = await idOf(measured(key, 0, [1]));
        const pages = await readAll<PointsReply>(`/v1/history/points?series=${series}&limit=${limit}`, (page) =>
          add(between[page] ?? []),
        );
        const seen = pages.toReversed().flatMap(({ points }) => points);
        const values = seen.map(({ min }) => min);
        expect(new Set(values).size).toBe(values.length);
        for (let start = 1; start <= first.length; start++) expect(values).toContain(start);
        expect(seen.map((point) => point.at)).toEqual(seen.map((point) => point.at).toSorted());
        for (const { points, truncated, nextCursor } of pages) {
          expect(points.length).toBeLessThanOrEqual(limit);
          expect(truncated).toBe(nextCursor !== null);
        }
      }),
      { numRuns: 25, seed: 20_261_122 },
    );
  });

  it("of series neither skip nor repeat one, whatever comes between", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(plan, async ({ first, between, limit }) => {
        const subject = `listed-${round++}`;
        let count = 0;
        // Those of one batch are made in the same millisecond.
        const add = (many: readonly number[]) =>
          append(...many.map(() => measured({ subject, configuration: { n: ++count } }, START_MS, [1])));
        await add(first);
        const pages = await readAll<{ items: { configuration: { n: number } }[]; nextCursor: string | null }>(
          `/v1/history/series?subject=${subject}&limit=${limit}`,
          (page) => add(between[page] ?? []),
        );
        const seen = pages.flatMap(({ items }) => items.map(({ configuration }) => configuration.n));
        expect(new Set(seen).size).toBe(seen.length);
        for (let n = 1; n <= first.length; n++) expect(seen).toContain(n);
      }),
      { numRuns: 25, seed: 20_261_122 },
    );
  });

  it("of points are of a span, and there are none of steps", async () => {
    const key = { subject: "paged-span" };
    await append(...[0, 1, 2, 3, 4, 5].map((ms) => measured(key, START_MS + ms, [ms])));
    const series = await idOf(measured(key, 0, [1]));
    const from = new Date(START_MS + 1).toISOString();
    const pages = await readAll<PointsReply>(
      `/v1/history/points?series=${series}&limit=2&from=${from}`,
      async () => {},
    );
    expect(pages.map(({ points }) => points.map(({ min }) => min))).toEqual([[4, 5], [2, 3], [1]]);
    const cursor = pages[0]?.nextCursor ?? "";
    const path = `/v1/history/points?series=${series}`;
    expect(pointersOf(await callEdge("GET", `${path}&step=1m&cursor=${cursor}`))).toEqual(["query/cursor"]);
    expect(pointersOf(await callEdge("GET", `${path}&cursor=${btoa('["a","b"]')}`))).toEqual(["query/cursor"]);
    expect((await callEdge("GET", `${path}&step=1m&limit=1`)).json).toMatchObject({ nextCursor: null });
  });
});
