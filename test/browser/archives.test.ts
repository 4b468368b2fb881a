import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import type { ElitePage, StoredArchive } from "../../src/protocol/policies/archive.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

let site: StackPage;

/** An archive that a training would leave is a sample. */
it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

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

const openView = (options: ViewOptions = {}) => site.openView("view=archives", options);

async function answerArchive(page: Page): Promise<void> {
  await page.route("**/v1/archives?*", (route) => route.fulfill({ json: { items: [archive], nextCursor: null } }));
  await page.route(`**/v1/archives/${archive.id}`, (route) => route.fulfill({ json: archive }));
  await page.route("**/elites?*", (route) => route.fulfill({ json: { items, nextCursor: null } }));
}

const findings = () => site.findings();

describe("the view of archives", () => {
  it("tells how to begin while there is none", async () => {
    const page = await openView();
    await page.getByText("No search has left an archive yet.").waitFor();
    await keepScreenshots(page, "archives-empty");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it.each(["light", "dark"] as const)("tells cells by pointer and by keys, in %s", async (colorScheme) => {
    const page = await openView({ colorScheme, prepare: answerArchive });
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
