import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ElitePage, StoredArchive } from "../../src/protocol/policies/archive.ts";
import { type EdgePage, startEdgePage } from "../../bench/page/edge-page.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { openWatchedPage, type WatchedPage } from "./watched-page.ts";

let edge: EdgePage;
let watched: WatchedPage;

/** The page of a real edge; what a training would have to leave is answered by a sample. */
beforeAll(async () => {
  edge = await startEdgePage();
});

afterAll(() => edge?.stop());

afterEach(async () => {
  await watched?.close();
});

const SIZE = 50;

/** A disc of elites, the better the nearer they are to its middle. */
const items: ElitePage["items"] = Array.from({ length: SIZE * SIZE }, (_, cell) => {
  const measures = [Math.floor(cell / SIZE), cell % SIZE].map((place) => (place + 0.5) / SIZE);
  return { cell, measures, fitness: -Math.hypot(...measures.map((measure) => measure - 0.5)) };
}).filter(({ fitness }) => fitness > -0.4);

const archive: StoredArchive = {
  id: `arc_${"0".repeat(26)}`,
  jobId: null,
  digest: `sha256:${"0".repeat(64)}`,
  sizeBytes: 1_024,
  createdAt: "2026-11-22T07:00:00.000Z",
  environment: "arm",
  network: { kind: "direct" },
  parameters: 100,
  dims: [SIZE, SIZE],
  ranges: [0, 1].map(() => ({ low: 0, high: 1 })),
  filled: items.length,
  coverage: items.length / SIZE ** 2,
  qdScore: 812,
  offset: -1,
  best: items.reduce((most, { fitness }) => Math.max(most, fitness), -1),
  genomes: { format: "float32", largestError: 0 },
  prunedFrom: null,
};

type Options = Parameters<typeof openWatchedPage>[2] & { readonly empty?: boolean };

async function openView({ empty = false, ...options }: Options = {}): Promise<Page> {
  watched = await openWatchedPage(edge.browser, edge.url, options);
  const { page } = watched;
  if (!empty) {
    await page.route("**/v1/archives?*", (route) => route.fulfill({ json: { items: [archive], nextCursor: null } }));
    await page.route(`**/v1/archives/${archive.id}`, (route) => route.fulfill({ json: archive }));
    await page.route("**/elites?*", (route) => route.fulfill({ json: { items, nextCursor: null } }));
  }
  await page.goto(`/#key=${edge.adminKey}&view=archives`);
  await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
  return page;
}

const findings = () => [...watched.complaints, ...watched.strangers];

describe("the view of archives", () => {
  it("tells how to begin while there is none", async () => {
    const page = await openView({ empty: true });
    await page.getByText("No search has left an archive yet.").waitFor();
    await keepScreenshots(page, "archives-empty");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it.each(["light", "dark"] as const)("tells cells by pointer and by keys, in %s", async (colorScheme) => {
    const page = await openView({ colorScheme });
    const map = page.getByRole("application", { name: /^Fitness of \d+ elites of arm/ });
    await map.waitFor();
    const box = (await map.boundingBox())!;
    await page.mouse.move(box.x + (30.5 / SIZE) * box.width, box.y + (1 - 20.5 / SIZE) * box.height);
    await page.getByText("column 30, row 20: fitness -0.1").waitFor();
    await page.mouse.move(box.x + 2, box.y + 2);
    await page.getByText("column 0, row 49: nobody got here").waitFor();
    await page.mouse.move(0, 0);
    await map.focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("column 24, row 24: fitness -0.0141, measures 0.49, 0.49").waitFor();
    await page.keyboard.press("ArrowUp");
    await page.getByText("column 24, row 25").waitFor();
    await page.getByText("The best as a table").click();
    expect(await page.getByRole("table").last().getByRole("row").count()).toBe(13);
    if (colorScheme === "light") await keepScreenshots(page, "archives");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});
