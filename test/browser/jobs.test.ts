import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Job } from "../../src/protocol/jobs/job.ts";
import { RunSamples } from "../../src/protocol/history/run.ts";
import { Trace } from "../../src/protocol/jobs/benchmark.ts";
import { type LocalStack, waitForJob } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const JOB_MS = 200_000;
/** One more than fit on a page. */
const WAITING_JOBS = 26;

let site: StackPage;
let stack: LocalStack;
let readKey: string;
/** A traced benchmark that has ended. */
let traced: Job;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: true });
  stack = site.stack;
  const { client } = stack;
  readKey = (await client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } })).secret;
  // No machine here is like that: what asks for it waits until it is cancelled.
  const requirements = { minLogicalCores: 100_000 };
  await client.call(endpoints.createProfile, { body: { name: "nowhere", requirements } });
  const body = { kind: "benchmark" as const, kernel: "gemm", iterations: 10, trace: true, label: "traced" };
  const { id } = await client.call(endpoints.createJob, { body });
  traced = await waitForJob(stack, id, ["succeeded", "failed"]);
  expect(traced.problem).toBe(null);
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

/** A job that no runner takes. */
async function submitWaiting(label: string): Promise<string> {
  const body = { kind: "benchmark" as const, kernel: "triad", profile: "nowhere", label };
  return (await stack.client.call(endpoints.createJob, { body })).id;
}

const openJobs = (hash = "", options: ViewOptions = {}, key = stack.adminKey) =>
  site.openView(`view=jobs${hash}`, { ...options, key });

const findings = () => site.findings();
const openTraced = (options?: ViewOptions) => openJobs(`&job=${traced.id}`, options);
const field = (page: Page, fragment: string) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(fragment);

describe("the list of jobs", () => {
  it("has pages, kinds and states, which stand in the address", async () => {
    const waiting: string[] = [];
    for (let job = 0; job < WAITING_JOBS; job++) waiting.push(await submitWaiting(`page-${job}-of-jobs`));
    const page = await openJobs();
    const table = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Attempt" }) });
    await table.getByText(`page-${WAITING_JOBS - 1}-of-jobs`).waitFor();
    expect(await table.getByText("page-0-of-jobs").count()).toBe(0);
    const older = page.getByRole("button", { name: "Older" });
    await older.focus();
    await page.keyboard.press("Enter");
    await table.getByText("page-0-of-jobs").waitFor();
    await table.getByText("traced").waitFor();
    // The address alone leads to the same page.
    await page.reload();
    await table.getByText("page-0-of-jobs").waitFor();
    expect(await table.getByText(`page-${WAITING_JOBS - 1}-of-jobs`).count()).toBe(0);
    await page.getByRole("button", { name: "Newest" }).click();
    await table.getByText(`page-${WAITING_JOBS - 1}-of-jobs`).waitFor();

    await page.getByLabel("State").selectOption({ label: "succeeded" });
    await table.getByText("traced").waitFor();
    await keepScreenshots(page, "jobs");
    await expect.poll(() => field(page, "state")).toBe("succeeded");
    expect(await table.getByText(/^queued$/).count()).toBe(0);
    await page.getByLabel("Kind").selectOption("consensus");
    await page.getByText("No such job.").waitFor();
    await expect.poll(() => field(page, "kind")).toBe("consensus");

    await page.getByLabel("Kind").selectOption("benchmark");
    await page.getByLabel("State").selectOption({ label: "queued" });
    await table.getByText(`page-${WAITING_JOBS - 1}-of-jobs`).waitFor();
    // What changes elsewhere is seen here: one by one they leave the list.
    for (const id of waiting) await stack.client.call(endpoints.cancelJob, { params: { id } });
    await page.getByText("No such job.").waitFor();
    expect(findings()).toEqual([]);
  });

  it("is led to from the overview, and leads to a job and back", async () => {
    const page = await site.openPage();
    await page.goto(`/#key=${stack.adminKey}`);
    await page.getByRole("link", { name: "all jobs" }).click();
    await page.getByLabel("State").selectOption({ label: "succeeded" });
    const row = page.getByRole("row").filter({ hasText: "traced" });
    await row.getByRole("link", { name: "gemm" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "benchmark gemm" }).waitFor();
    await page.goBack();
    await row.waitFor();
    expect(await page.getByLabel("State").inputValue()).toBe("succeeded");
    await page.goForward();
    await page.getByRole("link", { name: "All jobs" }).click();
    await page.getByLabel("State").waitFor();
    expect(await page.getByLabel("State").inputValue()).toBe("");
    expect(findings()).toEqual([]);
  });
});

describe("a job", () => {
  it("is followed live from the queue to its result", async () => {
    const body = { kind: "benchmark" as const, kernel: "gemm", iterations: 20, label: "followed" };
    const { id } = await stack.client.call(endpoints.createJob, { body });
    const page = await openJobs(`&job=${id}`);
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.getByRole("status").filter({ hasText: "succeeded" }).waitFor({ timeout: JOB_MS });
    const log = page.getByRole("region", { name: "Events" });
    for (const said of ["queued", "taken by a runner", "succeeded"])
      await log.getByText(said, { exact: true }).first().waitFor();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    const counts = page.getByRole("row").filter({ hasText: "Submitted to done" }).getByRole("cell");
    expect(await counts.first().textContent()).toBe("20");
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true);
    expect(findings()).toEqual([]);
  });

  it("is cancelled and asked for again by keyboard, which opens the new one", async () => {
    const id = await submitWaiting("asked-again");
    const page = await openJobs(`&job=${id}`);
    const state = page.getByRole("status").filter({ hasText: /queued|cancelled/ });
    await state.getByText("queued").waitFor();
    await page.getByRole("button", { name: "Cancel this job" }).focus();
    await page.keyboard.press("Enter");
    await state.getByText("cancelled", { exact: true }).waitFor();
    const retry = page.getByRole("button", { name: "Retry: submit this job again" });
    await retry.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => field(page, "job")).not.toBe(id);
    await state.getByText("queued").waitFor();
    const again = await stack.client.call(endpoints.getJob, { params: { id: field(page, "job") ?? "" } });
    const before = await stack.client.call(endpoints.getJob, { params: { id } });
    expect(again.spec).toEqual(before.spec);
    // What is done elsewhere is heard of here.
    await stack.client.call(endpoints.cancelJob, { params: { id: again.id } });
    await state.getByText("cancelled", { exact: true }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("tells a key that may only read why nothing can be done", async () => {
    const id = await submitWaiting("only-read");
    const page = await openJobs(`&job=${id}`, {}, readKey);
    const cancel = page.getByRole("button", { name: "Cancel this job" });
    await cancel.click();
    await page.getByRole("alert").filter({ hasText: "This key may only read" }).waitFor();
    expect(await cancel.getAttribute("aria-disabled")).toBe("true");
    expect((await stack.client.call(endpoints.getJob, { params: { id } })).state).toBe("queued");
    await stack.client.call(endpoints.cancelJob, { params: { id } });
  });

  it("that is not there is said to be so", async () => {
    const page = await openJobs(`&job=job_${"0".repeat(26)}`);
    await page.getByRole("alert").filter({ hasText: "There is no job" }).waitFor();
    expect(await page.getByRole("heading", { name: "Result" }).count()).toBe(0);
  });

  it("shows what was measured, what was asked for, and the samples as a file", async () => {
    if (traced.result?.kind !== "benchmark") throw new Error("it is no benchmark");
    const { roofline, variant } = traced.result;
    const page = await openTraced();
    const result = page.getByRole("region", { name: "Result" });
    await result.locator("dd").filter({ hasText: variant }).waitFor();
    expect(await result.getByText(/% of its roof of/).count()).toBe(roofline?.shareOfRoof == null ? 0 : 1);
    await result.getByRole("img", { name: /^Roofline of .*; 1 of the latest benchmarks$/ }).waitFor();
    await result.getByRole("img", { name: /^Spread of 10 values of wallMs, .* ms to .* ms/ }).waitFor();
    const saved = page.waitForEvent("download");
    await result.getByRole("button", { name: /^Download samples/ }).click();
    const file = await readFile(await (await saved).path(), "utf8");
    const { measurements } = RunSamples.parse(JSON.parse(file));
    expect(measurements.find(({ metric }) => metric === "wallMs")?.values).toHaveLength(10);
    await page.getByText("Spec as JSON").click();
    const json = await page.getByRole("region", { name: "Spec as JSON" }).textContent();
    expect(JSON.parse(json ?? "")).toEqual(traced.spec);
    expect(findings()).toEqual([]);
  });
});

describe("a trace", () => {
  it("is drawn on lanes, read by keyboard and by buttons, and told in tables", async () => {
    const page = await openTraced();
    const lanes = page.getByRole("application", { name: /^\d+ spans on \d lanes; shown: / });
    await lanes.waitFor();
    // They are drawn after their frame is there.
    await expect.poll(() => lanes.evaluate(countColours)).toBeGreaterThan(3);
    await keepScreenshots(page, "job");
    const whole = await lanes.getAttribute("aria-label");
    await lanes.focus();
    await page.keyboard.press("+");
    await expect.poll(() => lanes.getAttribute("aria-label")).not.toBe(whole);
    await page.keyboard.press("Home");
    await expect.poll(() => lanes.getAttribute("aria-label")).toBe(whole);

    const trace = page.getByRole("region", { name: "Trace" });
    const readout = trace.getByRole("status");
    await page.keyboard.press("n");
    await readout.getByText(/from .* runner \(runner-wall\)$/).waitFor();
    const first = await readout.textContent();
    await page.keyboard.press("n");
    await expect.poll(() => readout.textContent()).not.toBe(first);
    await page.keyboard.press("p");
    await expect.poll(() => readout.textContent()).toBe(first);
    await trace.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => lanes.getAttribute("aria-label")).toBe(whole);

    const row = trace.getByRole("row").filter({ hasText: "measure" });
    await row.getByRole("button", { name: /show the longest measure/ }).click();
    await readout.getByText("measure", { exact: true }).waitFor();
    await trace.getByText(/spans in sight as a table$/).click();
    await trace.getByRole("region", { name: "Spans in sight" }).getByRole("button", { name: "measure" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("is moved and zoomed by the pointer", async () => {
    const page = await openTraced();
    const lanes = page.getByRole("application", { name: /shown: / });
    await lanes.scrollIntoViewIfNeeded();
    const whole = await lanes.getAttribute("aria-label");
    await lanes.hover({ position: { x: 300, y: 40 } });
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -500);
    await page.keyboard.up("Control");
    await expect.poll(() => lanes.getAttribute("aria-label")).not.toBe(whole);
    const zoomed = await lanes.getAttribute("aria-label");
    await page.mouse.down();
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await expect.poll(() => lanes.getAttribute("aria-label")).not.toBe(zoomed);
    expect(findings()).toEqual([]);
  });

  it("is saved as the file that the edge keeps", async () => {
    const page = await openTraced();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: /^Download trace/ }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe(`${traced.runId}-trace.json`);
    const { traceEvents } = Trace.parse(JSON.parse(await readFile(await download.path(), "utf8")));
    const spans = traceEvents.filter(({ ph }) => ph === "X").length;
    await page.getByRole("application", { name: new RegExp(`^${spans} spans on`) }).waitFor();
    expect(findings()).toEqual([]);
  });
});

describe("the view of jobs", () => {
  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("keeps nobody out and fits its page, in %s at %d pixels", async (colorScheme, width) => {
    const options = { colorScheme, viewport: { width, height: 900 } };
    const page = await openJobs("", options);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    await page.getByRole("row").first().waitFor();
    expect(await fits()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`/#view=jobs&job=${traced.id}`);
    await page.getByRole("application", { name: /shown: / }).waitFor();
    await page
      .getByRole("img", { name: /^Spread of/ })
      .first()
      .waitFor();
    expect(await fits()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("a job that failed", () => {
  it("says why, and where that is explained", async () => {
    const body = { kind: "benchmark" as const, kernel: "triad", iterations: 10_000, timeoutMs: 100 };
    const { id } = await stack.client.call(endpoints.createJob, { body });
    const { problem } = await waitForJob(stack, id, ["succeeded", "failed"]);
    const page = await openJobs(`&job=${id}`);
    const state = page.getByRole("status").filter({ hasText: "failed" });
    const link = state.getByRole("link", { name: problem?.title ?? "no problem" });
    expect(await link.getAttribute("href")).toBe(problem?.type);
    const log = page.getByRole("region", { name: "Events" });
    await log.getByText(`failed: ${problem?.detail}`).waitFor();
    expect(await page.getByRole("heading", { name: "Result" }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

/** How many colours a canvas holds; an empty one has one. Of a copy: the page's own canvas is drawn on, not read. */
function countColours(element: Element): number {
  const { width, height } = element as HTMLCanvasElement;
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  copy.drawImage(element as HTMLCanvasElement, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  return new Set(new Uint32Array(data.buffer)).size;
}
