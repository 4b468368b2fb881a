import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { writeSpan } from "../../src/dashboard/history/time-span.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { plantPoints } from "../../bench/page/plant-points.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const POINTS = 100_000;
const GAP_S = 60;
const SPIKE = 77_777;
const SPIKE_MS = 500;
const LOADED_MS = 200_000;

let site: StackPage;
let seriesId: string;
/** Of the first point. */
let startS: number;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
  startS = Math.floor(Date.now() / 1_000) - GAP_S * POINTS;
  // Without order from one to the next, so that no change is found and marked.
  const noiseAt = (place: number) => ((place * 2_654_435_761) % 2 ** 32) / 2 ** 32;
  const valuesOf = (place: number) => [place === SPIKE ? SPIKE_MS : 10 + noiseAt(place)];
  seriesId = await plantPoints(site.stack.client, { subject: "steady", points: POINTS, startS, gapS: GAP_S, valuesOf });
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

const openSeries = (hash = "", options: ViewOptions = {}) =>
  site.openView(`view=history&series=${seriesId}${hash}`, options);

const plotOf = (page: Page) =>
  page.getByRole("application", { name: `Every point of wallMs of steady, ${POINTS} of them` });
const shownOf = (page: Page) => page.getByRole("status").filter({ hasText: " points, " });
/** What the address says is shown, in seconds; asked of the page itself, whose moves no navigation tells. */
async function spanOf(page: Page): Promise<readonly [number, number]> {
  const hash = await page.evaluate(() => location.hash.slice(1));
  const [from = "", to = ""] = (new URLSearchParams(hash).get("span") ?? "").split("/");
  return [Date.parse(from) / 1_000, Date.parse(to) / 1_000];
}
const findings = () => site.findings();

describe("every point of a series", () => {
  it("is loaded when it is asked for, all hundred thousand of them, and what stands out is drawn", async () => {
    const page = await openSeries();
    await page.getByRole("button", { name: "Load 100,000 points" }).click();
    await plotOf(page).waitFor({ timeout: LOADED_MS });
    await shownOf(page)
      .filter({ hasText: /^100,000 of 100,000 points, / })
      .waitFor();
    // Nothing but the one point out of a hundred thousand reaches the upper half of the plot.
    await expect.poll(() => plotOf(page).locator("canvas").evaluate(findHigh)).toHaveLength(1);
    const [share = 0] = await plotOf(page).locator("canvas").evaluate(findHigh);
    expect(share).toBeGreaterThan(SPIKE / POINTS - 0.01);
    expect(share).toBeLessThan(SPIKE / POINTS + 0.01);
    expect(findings()).toEqual([]);
  });

  it("is moved by keys, and a link shows the same part again, point by point", async () => {
    const around = [startS + GAP_S * (SPIKE - 50), startS + GAP_S * (SPIKE + 50)] as const;
    const page = await openSeries(`&span=${encodeURIComponent(writeSpan(around))}`);
    await plotOf(page).waitFor({ timeout: LOADED_MS });
    await shownOf(page)
      .filter({ hasText: /^101 of 100,000 points, / })
      .waitFor();
    await plotOf(page).scrollIntoViewIfNeeded();
    const over = (await plotOf(page).locator(".u-over").boundingBox())!;
    await page.mouse.move(over.x + over.width / 2, over.y + over.height / 2);
    const panel = page.getByRole("region", { name: "Every point" });
    await panel.getByText(`${SPIKE_MS} ms`).first().waitFor();

    await plotOf(page).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => spanOf(page)).toEqual([around[0] + GAP_S * 20, around[1] + GAP_S * 20]);
    await page.keyboard.press("-");
    await shownOf(page)
      .filter({ hasText: /^15\d of 100,000 points, / })
      .waitFor();
    await page.keyboard.press("End");
    await expect.poll(async () => (await spanOf(page))[1]).toBeCloseTo(startS + GAP_S * (POINTS - 1), 0);
    const atEnd = await spanOf(page);
    const told = await shownOf(page).textContent();
    await page.reload();
    await plotOf(page).waitFor({ timeout: LOADED_MS });
    await shownOf(page)
      .filter({ hasText: told ?? "" })
      .waitFor();
    expect(await spanOf(page)).toEqual(atEnd);
    await page.getByRole("button", { name: "All", exact: true }).click();
    await shownOf(page)
      .filter({ hasText: /^100,000 of/ })
      .waitFor();
    expect(findings()).toEqual([]);
  });

  it("is moved by dragging as far as the pointer goes, and zoomed where the pointer is", async () => {
    const around = [startS + GAP_S * 40_000, startS + GAP_S * 50_000] as const;
    const page = await openSeries(`&span=${encodeURIComponent(writeSpan(around))}`);
    await plotOf(page).waitFor({ timeout: LOADED_MS });
    await shownOf(page)
      .filter({ hasText: /^10,001 of/ })
      .waitFor();
    await plotOf(page).scrollIntoViewIfNeeded();
    const over = (await plotOf(page).locator(".u-over").boundingBox())!;
    const middle = { x: over.x + over.width / 2, y: over.y + over.height / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x + over.width / 8, middle.y, { steps: 5 });
    await page.mouse.move(middle.x + over.width / 4, middle.y, { steps: 5 });
    await page.mouse.up();
    const aPixelS = (GAP_S * 10_000) / over.width;
    const shiftS = async () => Math.abs((await spanOf(page))[0] - (around[0] - GAP_S * 2_500));
    await expect.poll(shiftS).toBeLessThan(2 * aPixelS);
    const [fromS, toS] = await spanOf(page);
    expect(toS - fromS).toBeCloseTo(GAP_S * 10_000, 0);
    await plotOf(page).focus();
    await page.mouse.move(over.x + over.width / 4, middle.y);
    await page.mouse.wheel(0, -100);
    const lengthOf = async () => {
      const [first, last] = await spanOf(page);
      return Math.round((last - first) / GAP_S);
    };
    await expect.poll(lengthOf).toBe(6_667);
    const [nearFromS, nearToS] = await spanOf(page);
    const still = nearFromS + (nearToS - nearFromS) / 4;
    expect(Math.abs(still - (fromS + (toS - fromS) / 4))).toBeLessThan(2 * aPixelS);
    expect(findings()).toEqual([]);
  });

  it("keeps nobody out in light and in dark, and fits a phone", async () => {
    const page = await openSeries("&span=all", { viewport: { width: 390, height: 800 } });
    await plotOf(page).waitFor({ timeout: LOADED_MS });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      expect(await seriousFindings(page)).toEqual([]);
    }
    expect(findings()).toEqual([]);
  });
});

describe("points of a window", () => {
  it("are saved as files", async () => {
    const page = await openSeries("&window=24 h");
    const save = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`steady-wallMs.${name.toLowerCase()}`);
      return readFile((await download.path()) ?? "");
    };
    const { points } = await site.stack.client.call(endpoints.listPoints, {
      query: { series: seriesId, from: new Date(Date.now() - 86_400_000).toISOString(), step: "5m" },
    });
    const [head, ...rows] = (await save("CSV")).toString().trim().split(/\r?\n/);
    expect(head).toMatch(/^.*at,.*p50/);
    // A step may have begun meanwhile.
    expect(Math.abs(rows.length - points.length)).toBeLessThanOrEqual(1);
    const lines = (await save("NDJSON")).toString().trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ p50: expect.any(Number) });
    expect((await save("Parquet")).subarray(0, 4).toString()).toBe("PAR1");
    expect(findings()).toEqual([]);
  });
});

/** In the page: where along a plot something of the highest percentile's colour reaches its upper half, as shares, neighbours as one. */
function findHigh(canvas: SVGElement | HTMLElement): number[] {
  const { width, height } = canvas as HTMLCanvasElement;
  const over = canvas.parentElement!.querySelector(".u-over") as HTMLElement;
  const [left, wide] = [over.offsetLeft * devicePixelRatio, over.clientWidth * devicePixelRatio];
  const probe = document.createElement("i");
  probe.style.color = "var(--p99)";
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color.match(/\d+/g)!.map(Number);
  probe.remove();
  // Of a copy: the page's own canvas is drawn on, not read.
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  copy.drawImage(canvas as HTMLCanvasElement, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const found: number[] = [];
  const [top, middle] = [over.offsetTop, over.offsetTop + over.clientHeight / 2];
  for (let x = Math.round(left); x < left + wide; x++) {
    for (let y = Math.round(top * devicePixelRatio); y < middle * devicePixelRatio; y++) {
      const at = 4 * (y * width + x);
      if (!wanted.every((value, channel) => Math.abs(data[at + channel]! - value) < 60) || data[at + 3]! < 128)
        continue;
      const share = (x - left) / wide;
      if (found.length === 0 || share - found.at(-1)! > 0.01) found.push(share);
      break;
    }
  }
  return found;
}
