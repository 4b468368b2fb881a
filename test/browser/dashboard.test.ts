import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Sendable } from "../../src/client/call-options.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { JobEvent, type JobSpec } from "../../src/protocol/jobs/job.ts";
import type { LocalStack } from "../e2e/local-stack.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const JOB_MS = 200_000;

let site: StackPage;
let stack: LocalStack;
let client: Client;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: true });
  stack = site.stack;
  client = createClient({ baseUrl: stack.baseUrl, key: stack.adminKey });
  // The last, since the page begins with what was measured last.
  await finishJob({ kind: "benchmark", kernel: "gemm", iterations: 10 });
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

/** Runs a job to its end, so that there is something to show. */
async function finishJob(body: Sendable<Extract<JobSpec, { kind: "benchmark" }>>): Promise<void> {
  const params = { id: (await client.call(endpoints.createJob, { body })).id };
  const signal = AbortSignal.timeout(JOB_MS);
  for await (const { data } of client.stream(endpoints.streamJobEvents, { params, schema: JobEvent, signal })) {
    if (data.type === "failed") throw new Error(data.detail ?? "the job failed");
  }
  expect((await client.call(endpoints.getJob, { params })).state).toBe("succeeded");
}

async function openPage(path: string, options: ViewOptions = {}): Promise<Page> {
  const page = await site.openPage(options);
  await page.goto(path);
  return page;
}

async function openOverview(options: ViewOptions = {}): Promise<Page> {
  const page = await openPage(`/#key=${stack.adminKey}`, options);
  await page.getByRole("heading", { name: "Latest jobs" }).waitFor();
  await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
  return page;
}

const findings = () => site.findings();

describe("the key", () => {
  it("is asked for, refused when wrong, and taken by keyboard alone", async () => {
    const page = await openPage("/");
    await page.getByText(".millrace/admin.key").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);

    const field = page.getByLabel("API key");
    await field.focus();
    await page.keyboard.type("mk_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "does not know this key" }).waitFor();

    await field.focus();
    await page.keyboard.type(stack.adminKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runners" }).waitFor();
  });

  it("leaves the address bar, and lasts as long as the tab", async () => {
    const page = await openOverview();
    expect(page.url()).toBe(new URL("/", stack.baseUrl).href);
    await page.reload();
    await page.getByRole("heading", { name: "Runners" }).waitFor();
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
    expect(findings()).toEqual([]);
  });
});

describe("the overview", () => {
  it("shows every runner with its state and devices, software ones marked", async () => {
    const { items } = await client.call(endpoints.listRunners);
    expect(items.length).toBeGreaterThan(0);
    const page = await openOverview();
    const table = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Last seen" }) });
    for (const runner of items) {
      const row = table.getByRole("row").filter({ hasText: runner.name });
      await row.getByText(runner.state, { exact: true }).waitFor();
      for (const device of runner.capabilities?.devices ?? []) {
        const entry = row.getByRole("listitem").filter({ hasText: device.name }).first();
        expect(await entry.getByText("software", { exact: true }).count()).toBe(device.software ? 1 : 0);
      }
    }
    expect(findings()).toEqual([]);
  });

  it("shows a job that was submitted elsewhere, live to its end, without a reload", async () => {
    const page = await openOverview();
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    const label = `page-test-${Date.now()}`;
    await client.call(endpoints.createJob, { body: { kind: "benchmark", kernel: "gemm", iterations: 20, label } });
    const row = page.getByRole("row").filter({ hasText: label });
    await row.waitFor();
    await row.getByText("succeeded").waitFor({ timeout: JOB_MS });
    // A label makes a series of its own: it joins the choices as soon as it is measured.
    await page.locator("option", { hasText: label }).waitFor({ state: "attached" });
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true);
    expect(findings()).toEqual([]);
  });

  it("draws the chosen series, and says which device and clock it is from", async () => {
    const page = await openOverview();
    await page.getByLabel("Subject").selectOption({ label: "kernel gemm" });
    await page.getByLabel("Metric").selectOption("wallMs");
    const plot = page.getByRole("img", { name: /^wallMs of gemm over time, \d+ points?; the latest: p50 [\d.,]+ ms/ });
    await plot.waitFor();
    expect(await plot.getAttribute("aria-label")).toContain("over time, 1 point;");
    // A single point stands in the middle of the time that is shown.
    const place = () => plot.locator("canvas").evaluate(placeOfMedian);
    await expect.poll(place).toBeGreaterThan(0.4);
    expect(await place()).toBeLessThan(0.7);
    const panel = page.getByRole("region", { name: "Measurements over time" });
    await panel.getByText("the runner's monotonic clock").waitFor();
    const { items } = await client.call(endpoints.listSeries, { query: { subject: "gemm", metric: "wallMs" } });
    const { fingerprint } = items[0] ?? {};
    await panel
      .locator("dd")
      .getByText(fingerprint?.adapter ?? fingerprint?.cpu ?? "nothing")
      .waitFor();
    await page.getByText("Latest points as a table").click();
    await panel.getByRole("columnheader", { name: "p99 (ms)" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("shows where a benchmark stands under its device's roofs", async () => {
    const page = await openOverview();
    const row = page.getByRole("row").filter({ hasText: "benchmark gemm" }).first();
    await row.getByText(/^[\d.,]+% of its roof of [\d.,]+ GFLOP\/s, bound by (memory|arithmetic)$/).waitFor();
    expect(findings()).toEqual([]);
  });

  it("draws how many predictions held, tells them in words, and lets another placement be chosen", async () => {
    const at = new Date(Date.now() - 600_000).toISOString();
    const prediction = (model: string, inTime: number) => {
      const counts = { requests: 200, inTime, asPredicted: 198 };
      const about = {
        model,
        placementId: createId("placement"),
        variant: "fp32",
        backend: "ort-cpu",
        confidence: 0.99,
      };
      return { ...about, ...counts, steps: [{ at, ...counts }] };
    };
    const page = await site.openPage();
    const body = { items: [prediction("first@1", 199), prediction("second@1", 150)], truncated: true };
    await page.route("**/v1/history/calibration*", (route) => route.fulfill({ json: body }));
    await page.goto(`/#key=${stack.adminKey}`);
    const panel = page.getByRole("region", { name: "Predictions held" });
    await panel.getByRole("img", { name: /first@1.*of 200 requests 99.5.?%/ }).waitFor();
    await panel.locator("canvas").waitFor();
    await panel.getByText("200 requests in 24 h").waitFor();
    await panel.getByText("Only the latest steps are shown.").waitFor();
    await panel.getByLabel("Placement").selectOption({ index: 1 });
    await panel.getByRole("img", { name: /second@1.*of 200 requests 75.?%/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("says when it is no longer live, and catches up by itself", async () => {
    const page = await openPage("/");
    await page.route("**/v1/events", (route) => route.abort());
    await page.getByLabel("API key").fill(stack.adminKey);
    await page.keyboard.press("Enter");
    const status = page.getByRole("status");
    await status.filter({ hasText: "Reconnecting" }).waitFor();
    await page.unroute("**/v1/events");
    // It waits the longer, the more attempts have failed.
    await expect.poll(() => status.textContent(), { timeout: 120_000 }).toBe("Live");
  });

  it("is reached by keyboard, in reading order, with the focus seen", async () => {
    const page = await openOverview();
    await page.getByText("Latest points as a table").waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 120; presses++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(describeFocus);
      if (focused === null) break;
      expect(focused).toEqual({ name: focused.name, outlined: true });
      reached.push(focused.name);
    }
    const expected = [
      "Skip to content",
      "millrace",
      "Overview",
      "API docs",
      "Forget key",
      "Subject",
      "Metric",
      "Latest points as a table",
    ];
    expect(reached.filter((name) => expected.includes(name))).toEqual(expected);

    await page.getByRole("radio", { name: "24 h" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("radio", { name: "7 d" }).isChecked()).toBe(true);
    expect(findings()).toEqual([]);
  });

  it.each(["light", "dark"] as const)("has no serious finding of axe in %s", async (colorScheme) => {
    expect(await seriousFindings(await openOverview({ colorScheme }))).toEqual([]);
  });

  it("fits a phone", async () => {
    const page = await openOverview({ viewport: { width: 360, height: 740 } });
    await page.getByRole("img", { name: /over time/ }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("does not shift while it loads, and is under 150 KB compressed", async () => {
    const page = await site.openPage();
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      if (!/\/v1\/|favicon/.test(response.url())) sizes.push(response.body().then((body) => gzipSync(body).length));
    });
    await page.addInitScript(recordShifts);
    await page.goto(`/#key=${stack.adminKey}`);
    await page.getByRole("img", { name: /over time/ }).waitFor();
    expect(await page.evaluate(() => (globalThis as { shift?: number }).shift)).toBeLessThan(0.02);
    const loaded = await Promise.all(sizes);
    expect(loaded.length).toBeGreaterThan(2);
    expect(loaded.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
  });
});

describe("the documents", () => {
  it("render the API from our own files", async () => {
    // There are so many that only what is in sight is drawn: the address says what is to be in sight.
    const page = await openPage("/docs#/inference/infer");
    await page.getByText("/v1/infer", { exact: true }).waitFor({ timeout: JOB_MS });
    await page.getByText("budget-unattainable").or(page.getByText("Request body")).first().waitFor();
    expect(findings()).toEqual([]);
  });

  it("explain every problem where its type points", async () => {
    const page = await openPage("/docs/problems#budget-exceeded");
    const row = page.getByRole("row").filter({ hasText: "budget-exceeded" });
    await row.getByText("504").waitFor();
    await expect.poll(() => row.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(900);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it.each(["/", "/docs", "/docs/problems"])("come with a policy of their own at %s", async (path) => {
    const { headers } = await fetch(new URL(path, stack.baseUrl));
    expect(headers.get("content-security-policy")).toMatch(/default-src 'self'/);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
  });
});

// These run in the page: they may use nothing from outside themselves.

/** Where the pixels of the p50 line's light colour stand on average, from 0 (left) to 1 (right); NaN without any. */
function placeOfMedian(element: Element): number {
  const canvas = element as HTMLCanvasElement;
  // Of a copy: the page's own canvas is drawn on, not read.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true })!;
  copy.drawImage(canvas, 0, 0);
  const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  const columns: number[] = [];
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i] === 0x0b && pixels[i + 1] === 0x7a && pixels[i + 2] === 0x91) columns.push((i / 4) % canvas.width);
  }
  return columns.reduce((sum, column) => sum + column, 0) / columns.length / canvas.width;
}

function describeFocus(): { name: string; outlined: boolean } | null {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const label = element instanceof HTMLSelectElement ? element.labels[0]?.firstChild?.textContent : element.textContent;
  // A radio button is unseen itself; the words beside it show the focus.
  const isRadio = element instanceof HTMLInputElement && element.type === "radio";
  const shown = isRadio ? (element.nextElementSibling ?? element) : element;
  return { name: (label ?? "").trim(), outlined: getComputedStyle(shown).outlineStyle !== "none" };
}

function recordShifts(): void {
  Object.assign(globalThis, { shift: 0 });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      (globalThis as unknown as { shift: number }).shift += (entry as unknown as { value: number }).value;
  });
  observer.observe({ type: "layout-shift", buffered: true });
}
