import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, describe, expect, vi } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { JobEvent } from "../../src/protocol/jobs/job.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import type { LocalStack } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openOperatorPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const root = join(import.meta.dirname, "../..");
/** The first calibration on a busy machine takes its time. */
const PATIENCE = { timeout: 200_000, interval: 250 };

let site: StackPage;
let stack: LocalStack;
let readKey: string;

it.beforeAll(async ({ shared }) => {
  site = openOperatorPage(shared);
  stack = site.stack;
  const { client } = stack;
  readKey = (await client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } })).secret;
  const content = new Uint8Array(await readFile(join(root, "models/lenet5/lenet5.onnx")));
  const rawBody = { mediaType: "application/octet-stream", content };
  await client.call(endpoints.uploadModel, { query: { name: "lenet5" }, rawBody });
  const params = { model: "lenet5" };
  const states = async () => (await client.call(endpoints.listPlacements, { params })).items.map(({ state }) => state);
  await vi.waitFor(async () => expect(await states()).toContain("eligible"), PATIENCE);
  const body = { kind: "benchmark" as const, kernel: "gemm", iterations: 10 };
  const job = { id: (await client.call(endpoints.createJob, { body })).id };
  const events = client.stream(endpoints.streamJobEvents, { params: job, schema: JobEvent });
  for await (const { data } of events) if (data.type === "failed") throw new Error(data.detail ?? "the job failed");
});

/** A runner that a failed test has left draining or shared would hold up the files that follow. */
afterAll(async () => {
  if (site === undefined) return;
  const params = { id: stack.runnerId };
  await stack.client.call(endpoints.resumeRunner, { params });
  await stack.client.call(endpoints.unshareRunner, { params });
  await site.stop();
});

afterEach(() => site?.closePage());

const openView = (hash: string, options: ViewOptions = {}) => site.openView(hash, options);

/** What the page complained of, and whom it called; nothing is right. */
const findings = () => site.findings();

async function infer(budgetMs = 60_000): Promise<void> {
  const request = await readFile(join(root, "models/lenet5/example-request.json"), "utf8");
  const body = { ...(JSON.parse(request) as { model: string; inputs: Record<string, { data: number[] }> }), budgetMs };
  await stack.client.call(endpoints.infer, { body });
}

/** A runner that was registered and never connected. */
async function addSpare(): Promise<string> {
  const { token } = await stack.client.call(endpoints.createRegistrationToken, { body: {} });
  const { client } = stack;
  return (await client.call(endpoints.registerRunner, { body: { token, name: "spare" } })).runnerId;
}

const removeRunner = (id: string) =>
  stack.client.call(endpoints.removeRunner, { params: { id } }).catch((error: unknown) => {
    if (!(error instanceof ProblemError && error.problem.code === "not-found")) throw error;
  });

const rowOf = (page: Page, name: string): Locator =>
  page.getByRole("region", { name: "Runners" }).getByRole("row").filter({ hasText: name });

/** Charts are drawn once the first report has come. */
async function waitForCharts(page: Page): Promise<void> {
  await page.getByText("told every second").waitFor();
  await page.getByRole("img", { name: "Utilisation over the last 120 s" }).locator("canvas").waitFor();
}

/** The highest rate of requests on the CPU among the live figures, as it is told. */
function mostRequests(page: Page): Promise<string | null> {
  const row = page.locator("tr").filter({ hasText: "Requests a second" }).filter({ hasText: "cpu" });
  return row.locator("td").nth(4).textContent();
}

describe("the view of runners", () => {
  it("lists each with its devices and what they do now", async () => {
    const page = await openView("view=runners");
    const row = rowOf(page, "local");
    await row.getByText("online", { exact: true }).waitFor();
    await row.getByText(/^\d+ waiting$/).waitFor();
    const { items } = await stack.client.call(endpoints.listRunners);
    for (const { name, software } of items[0]?.capabilities?.devices ?? []) {
      const device = row.getByRole("listitem").filter({ hasText: name }).first();
      expect(await device.getByText("software", { exact: true }).count()).toBe(software ? 1 : 0);
    }
    await row
      .getByRole("listitem")
      .filter({ hasText: /^cpu [\d.]+%$/ })
      .waitFor();
    expect(findings()).toEqual([]);
  });

  it("draws one by the second from a single stream, with the requests that come meanwhile", async () => {
    const page = await openView(`view=runners&runner=${stack.runnerId}`);
    await waitForCharts(page);
    await page.getByRole("region", { name: "Diagnosis" }).getByRole("table").first().waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      // An alert of the watch has the diagnosis read again.
      if (/\/v1\/runners\/[^/]+\/(live|memory)$/.test(request.url())) asked.push(request.url());
    });
    await page.getByText("The last 120 s as a table").click();
    await expect.poll(() => infer().then(() => mostRequests(page)), PATIENCE).not.toBe("0 /s");
    expect(asked).toEqual([]);
    const memory = page.getByRole("row").filter({ hasText: "host, in use" });
    expect(await memory.getByRole("cell").nth(1).textContent()).toMatch(/^[\d.]+ [GM]iB$/);
    expect(findings()).toEqual([]);
  });

  it("shows its roofs, its memory, its tunings, its diagnosis and how it fits profiles", async () => {
    const page = await openView(`view=runners&runner=${stack.runnerId}`);
    const roofs = page.getByRole("img", { name: /^Roofline of .+ in f32: .+ GFLOP\/s, .+ GB\/s; 1 of the latest/ });
    await roofs.locator("canvas").waitFor();
    await page.getByText("Benchmarks as a table").click();
    await page.getByRole("columnheader", { name: "Of its roof" }).waitFor();
    const tiers = page.getByRole("region", { name: "Memory tiers" });
    await tiers.getByRole("rowheader", { name: "disk" }).waitFor();
    await tiers.getByRole("progressbar", { name: "Used of host" }).waitFor();
    await page.getByText("Nothing has been tuned on these devices yet.").waitFor();
    const diagnosis = page.getByRole("region", { name: "Diagnosis" });
    await diagnosis.getByRole("rowheader", { name: "Host load" }).waitFor();
    await diagnosis.getByText(/^balanced: /).waitFor();
    await page.reload();
    await page.getByRole("region", { name: "Live" }).waitFor();
    await waitForCharts(page);
    await expect.poll(() => infer().then(() => mostRequests(page)), PATIENCE).not.toBe("0 /s");
    await keepScreenshots(page, "runners");
    expect(findings()).toEqual([]);
  });

  it("drains one and lets it work again, by keyboard", async () => {
    const page = await openView(`view=runners&runner=${stack.runnerId}`);
    const press = async (name: string) => {
      await page.getByRole("button", { name }).focus();
      await page.keyboard.press("Enter");
    };
    await press("Drain local");
    await rowOf(page, "local").getByText("draining", { exact: true }).waitFor();
    await press("Resume local");
    await rowOf(page, "local").getByText("online", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Drain local" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("shares one with all projects, which see it and not what it does for others", async () => {
    const { client } = stack;
    await client.call(endpoints.createProject, { body: { name: "guest" } });
    const key = { name: "guest", scopes: ["admin" as const], project: "guest" };
    const { secret } = await client.call(endpoints.createKey, { body: key });
    const page = await openView(`view=runners&runner=${stack.runnerId}`);
    await page.getByText("its own project").waitFor();
    await page.getByRole("button", { name: "Share local" }).click();
    await page.getByText("all projects").waitFor();
    expect(findings()).toEqual([]);
    await site.closePage();

    const theirs = await openView(`view=runners&runner=${stack.runnerId}`, { key: secret });
    await rowOf(theirs, "local").getByText("online", { exact: true }).waitFor();
    await theirs.getByText("Another project shares it.").waitFor();
    expect(await theirs.getByRole("button", { name: "Drain local" }).count()).toBe(0);
    expect(findings()).toEqual([]);
    await site.closePage();

    const again = await openView(`view=runners&runner=${stack.runnerId}`);
    await again.getByRole("button", { name: "Stop sharing local" }).click();
    await again.getByRole("button", { name: "Share local" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("gives one another credential, and removes it after a second thought", async () => {
    const id = await addSpare();
    try {
      const page = await openView(`view=runners&runner=${id}`);
      await page.getByText("not connected", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Rotate credential of spare" }).click();
      await page.getByText(/^mc_/).waitFor();
      await page.getByRole("button", { name: "Remove spare" }).focus();
      await page.keyboard.press("Enter");
      // The focus is on the answer that does no harm.
      await page.getByText("Remove spare for good?", { exact: false }).waitFor();
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Keep it");
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await page.getByText("Remove spare for good?", { exact: false }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Remove spare" }).click();
      await page.getByRole("button", { name: "Remove for good: spare" }).click();
      await rowOf(page, "spare").waitFor({ state: "detached" });
      expect(page.url()).not.toContain(id);
    } finally {
      await removeRunner(id);
    }
  });

  it("says which runner is not there", async () => {
    const page = await openView("view=runners&runner=rnr_00000000000000000000000000");
    await page.getByRole("alert").filter({ hasText: "There is no runner rnr_0" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it("changes nothing with a key that may only read, and says why", async () => {
    const page = await openView("view=runners", { key: readKey });
    const drain = page.getByRole("button", { name: "Drain local" });
    await drain.click();
    await page.getByRole("alert").filter({ hasText: "a key with the admin scope can change this" }).waitFor();
    expect(await drain.getAttribute("aria-disabled")).toBe("true");
    expect(await seriousFindings(page)).toEqual([]);
  });

  it.each([{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 390, height: 800 } }] as const)(
    "has no serious finding of axe and fits: %o",
    async (options) => {
      const page = await openView(`view=runners&runner=${stack.runnerId}`, options);
      await waitForCharts(page);
      await page.getByRole("region", { name: "Diagnosis" }).getByRole("table").first().waitFor();
      for (const summary of await page.locator("main summary").all()) await summary.click();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      expect(findings()).toEqual([]);
    },
  );
});

describe("the overview of what runs there", () => {
  it("tells how many requests were answered and why others were not, and leads to the runner", async () => {
    const page = await openView("");
    await infer();
    // Nothing answers in a tenth of a millisecond.
    await expect(infer(0.1)).rejects.toThrow(ProblemError);
    const goodput = page.getByRole("region", { name: "Goodput" });
    const reason = goodput.getByRole("row").filter({ hasText: "budget-unattainable" });
    await reason.waitFor({ timeout: PATIENCE.timeout });
    await goodput.getByRole("img", { name: /^Answers a second over \d+ minutes, [1-9]/ }).waitFor();
    await goodput.getByRole("img", { name: /^Requests without an answer .*budget-unattainable/ }).waitFor();
    await page.getByRole("region", { name: "Open alerts" }).waitFor();
    await keepScreenshots(page, "overview");
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "local", exact: true }).click();
    await waitForCharts(page);
    expect(findings()).toEqual([]);
  });
});
