import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { lehmer } from "../../src/stats/random/seeded.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const RUNS = 60;
const RUN_GAP_MS = 3_600_000;
const NEW_DRIVER = 12;
const SPIKE = 30;
const SLOWER = 45;

let site: StackPage;
let client: Client;
let readKey: string;

/** All of the history is reported from outside. */
it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
  client = site.stack.client;
  readKey = (await client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } })).secret;
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

const openView = (hash: string, options: ViewOptions = {}) => site.openView(hash, options);

const findings = () => site.findings();

const draw = lehmer();

/** Reports a step of one subject, with a spike and another driver before it; `others` move with it. */
async function plant(subjects: readonly string[]): Promise<void> {
  const startMs = Date.now() - RUNS * RUN_GAP_MS;
  for (let run = 0; run < RUNS; run++) {
    const level = (run === SPIKE ? 18 : 10) * (run >= SLOWER ? 1.12 : 1);
    const measure = (subject: string, label: string, about: number) => ({
      subject,
      metric: "wallMs",
      unit: "ms",
      clock: "runner-wall" as const,
      configuration: { n: 256 },
      label,
      values: Array.from({ length: 10 }, () => about * (1 + 0.004 * draw())),
    });
    await client.call(endpoints.reportPoints, {
      body: {
        at: new Date(startMs + run * RUN_GAP_MS).toISOString(),
        revision: `commit${run}`,
        host: { cpu: "Sample CPU", adapter: "Sample GPU", driver: run < NEW_DRIVER ? "535.1" : "550.2" },
        measurements: [
          ...subjects.map((subject) => measure(subject, "main", level)),
          measure(subjects[0] ?? "", "feature", 9),
        ],
      },
    });
  }
  await client.call(endpoints.detectChanges, { body: { selector: {} } });
}

async function seriesOf(subject: string): Promise<string> {
  const { items } = await client.call(endpoints.listSeries, { query: { subject, label: "main" } });
  const found = items.toSorted((a, b) => (b.lastPointAt ?? "").localeCompare(a.lastPointAt ?? ""))[0];
  return found?.id ?? "";
}

describe("alerts", () => {
  it("teach what is searched while nothing has moved", async () => {
    const page = await openView("view=alerts");
    await page.getByText("Nothing has moved.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("come by the feed, tell what moved, and are acknowledged by keyboard", async () => {
    const page = await openView("view=alerts");
    await page.getByText("Nothing has moved.").waitFor();
    await plant(["matmul"]);
    const alert = page.getByRole("article").filter({ hasText: "matmul wallMs on main" });
    await alert.getByText(/^p50 from 10.* ms to 11.* ms, step/).waitFor();
    await alert.getByText("more than 99.9% sure", { exact: false }).waitFor();
    await alert.getByText(`commit${SLOWER}`, { exact: true }).waitFor();
    await alert.getByText("open", { exact: true }).waitFor();
    await page.getByRole("link", { name: /^Alerts ?, ?1 open$/ }).waitFor();

    await alert.getByLabel("Note on matmul wallMs on main").fill("looking");
    await alert.getByRole("button", { name: "Acknowledge" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("matmul wallMs on main: acknowledged.").waitFor();
    await alert.getByText("acknowledged", { exact: true }).waitFor();
    const { items } = await client.call(endpoints.listAlerts, { query: { subject: "matmul" } });
    expect(items[0]).toMatchObject({ state: "acknowledged", note: "looking" });
    await page.getByRole("link", { name: "Alerts", exact: true }).waitFor();

    await page.getByRole("radio", { name: "open", exact: true }).check({ force: true });
    await page.getByText("No alert is open.").waitFor();
    expect(page.url()).toContain("state=open");
    await page.getByRole("radio", { name: "acknowledged", exact: true }).check({ force: true });
    await alert.getByRole("button", { name: "Reopen" }).click();
    await page.getByText("No alert is acknowledged.").waitFor();
    expect(findings()).toEqual([]);
  });

  it("show their evidence, which a link keeps open", async () => {
    const page = await openView("view=alerts");
    await page.getByRole("button", { name: "Show the evidence for matmul" }).click();
    await page.getByRole("img", { name: /^wallMs of matmul over time.*marked: 1 change/ }).waitFor();
    await keepScreenshots(page, "alerts");
    expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await page.getByRole("img", { name: /^wallMs of matmul over time/ }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("are changed by no key that may only read, and it says why", async () => {
    const page = await openView("view=alerts", { key: readKey });
    await page.getByRole("button", { name: "Acknowledge" }).first().click();
    await page.getByText("This key may only read; a key with the submit scope can change this.").waitFor();
    expect(await page.getByRole("button", { name: "Acknowledge" }).first().getAttribute("aria-disabled")).toBe("true");
    expect(await seriousFindings(page)).toEqual([]);
  });
});

describe("an alert of the watch", () => {
  /** What takes a runner minutes to be found guilty of. */
  const finding = {
    kind: "latency-drift",
    runnerId: createId("runner"),
    deviceKey: "gpu0",
    placementId: null,
    subject: "lenet5@1 fp32 on gpu0 by ort-webgpu",
    cause: null,
    measured: 12,
    expected: 4,
    unit: "ms",
    detail: "p99 is three times what was calibrated.",
    advice: "Calibrate it again.",
    since: "2026-11-22T07:00:00.000Z",
    at: "2026-11-22T07:05:00.000Z",
  };
  const alert = {
    id: createId("alert"),
    kind: "finding",
    state: "open",
    direction: "regression",
    scope: "subject",
    summary: finding.detail,
    fingerprintId: null,
    after: finding.since,
    at: finding.since,
    changes: 0,
    subjects: 1,
    leading: null,
    runnerId: finding.runnerId,
    finding,
    note: null,
    version: 1,
    createdAt: finding.since,
    updatedAt: finding.at,
  };

  it.each(["light", "dark"] as const)(
    "draws what was measured beside what was expected, in %s",
    async (colorScheme) => {
      const page = await openView("view=overview", { colorScheme });
      await page.route("**/v1/history/alerts?*", (route) =>
        route.fulfill({ json: { items: [alert], nextCursor: null } }),
      );
      await page.goto("/#view=alerts");
      const article = page.getByRole("article", { name: /lenet5@1/ });
      const plot = article.getByRole("img", { name: "measured 12 ms, expected 4 ms" });
      await plot.waitFor();
      const widthOf = (bar: string) =>
        plot.locator(`rect.${bar}`).evaluate((rect) => Number(rect.getAttribute("width")));
      expect(await widthOf("measured")).toBe(3 * (await widthOf("expected")));
      expect(await article.getByRole("link", { name: "its diagnosis" }).getAttribute("href")).toContain(
        finding.runnerId,
      );
      await article.getByRole("button", { name: /^Mute the alert/ }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(findings()).toEqual([]);
    },
  );
});

describe("a series in depth", () => {
  async function openSeries(options: ViewOptions = {}): Promise<Page> {
    const page = await openView(`view=history&series=${await seriesOf("matmul")}&window=7 d`, options);
    await page.getByRole("img", { name: /^wallMs of matmul over time/ }).waitFor();
    return page;
  }

  it("marks its change, its spike and its other hardware, and tells them in words", async () => {
    const page = await openSeries();
    const marked = /^wallMs of matmul over time.*marked: 1 change, 1 spike, 1 hardware change$/;
    const plot = page.getByRole("img", { name: marked });
    await plot.waitFor();
    await expect.poll(() => plot.locator("canvas").evaluate(countWorsePixels)).toBeGreaterThan(100);
    const happened = page.getByRole("list", { name: "What happened" });
    await happened.getByText(/^worse \+1[12]/).waitFor();
    await happened.getByText(/^One spike of 18/).waitFor();
    await happened.getByText("driver 535.1 to 550.2", { exact: false }).waitFor();
    await happened.getByRole("button", { name: "Show what was before" }).click();
    await page.locator("dd").getByText("535.1", { exact: true }).waitFor();
    await keepScreenshots(page, "history");
    expect(findings()).toEqual([]);
  });

  it("tells its noise, what a change needs, and is muted and unmuted", async () => {
    const page = await openSeries();
    const needed = page.getByText(/^\d+ a side$/);
    await needed.waitFor();
    const few = Number.parseInt((await needed.textContent()) ?? "", 10);
    await page.getByLabel("Change in per cent").fill("1");
    await page.keyboard.press("Tab");
    await expect.poll(async () => Number.parseInt((await needed.textContent()) ?? "", 10)).toBeGreaterThanOrEqual(few);
    await page.getByRole("button", { name: "Mute this series" }).click();
    await page.getByRole("button", { name: "Unmute this series" }).click();
    await page.getByRole("button", { name: "Mute this series" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("draws its spread, read cell by cell with arrow keys", async () => {
    const page = await openSeries();
    const heat = page.getByRole("application", { name: /^How often which wallMs of matmul/ });
    await heat.focus();
    await page.keyboard.press("ArrowLeft");
    await page
      .locator("output")
      .getByText(/ms: 10 of 10|ms: \d+ of 10/)
      .waitFor();
    const before = await page.locator("output").textContent();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.locator("output").textContent()).not.toBe(before);
    await page.getByText("Spread as a table").click();
    await page.getByRole("columnheader", { name: "Most often" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("is compared by label, and by what else is picked; the address keeps it", async () => {
    const page = await openSeries();
    const panel = page.getByRole("region", { name: "Compare" });
    await panel.getByText("B is better").first().waitFor();
    await panel.getByLabel("By").selectOption("runs");
    await panel.locator("select").nth(1).selectOption({ index: 20 });
    await panel.getByText("B is worse").waitFor();
    await page.reload();
    await panel.getByText("B is worse").waitFor();
    expect(await panel.getByLabel("By").inputValue()).toBe("run");
    expect(findings()).toEqual([]);
  });

  it.each([{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 360, height: 740 } }] as const)(
    "has no serious finding of axe and fits: %o",
    async (options) => {
      const page = await openSeries(options);
      await page.getByRole("application").waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(width).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole("link", { name: /^Alerts/ }).click();
      await page.getByRole("article").first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      expect(findings()).toEqual([]);
    },
  );
});

// This runs in the page: it may use nothing from outside itself.

/** How many pixels have the light colour of what got worse. Of a copy: the page's own canvas is drawn on, not read. */
function countWorsePixels(element: Element): number {
  const canvas = element as HTMLCanvasElement;
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true })!;
  copy.drawImage(canvas, 0, 0);
  const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i] === 0xb3 && pixels[i + 1] === 0x26 && pixels[i + 2] === 0x1e) count++;
  }
  return count;
}
