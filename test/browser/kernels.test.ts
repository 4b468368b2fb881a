import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { KernelInput, type SubmittedKernel } from "../../src/protocol/kernels/submitted-kernel.ts";
import { type LocalStack, waitFor, waitForJob } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const LIVE_MS = 200_000;
const kernels = join(import.meta.dirname, "../../kernels");
const textbook = KernelInput.parse(JSON.parse(readFileSync(join(kernels, "gemm/example-submission.json"), "utf8")));
const broken = { ...textbook, name: "broken-gemm", wgsl: textbook.wgsl.replace("var sum = 0.0;", "var sum = 0.0") };

let site: StackPage;
let stack: LocalStack;
let rival: SubmittedKernel;
let wrong: SubmittedKernel;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: true });
  stack = site.stack;
  await finish({ kind: "tuning", kernel: "triad", shape: { n: 4_096 }, budgetMs: 5_000 });
  await finish({ kind: "tuning", kernel: "gemm", shape: { m: 64, n: 64, k: 64 }, budgetMs: 5_000 });
  await finish({ kind: "benchmark", kernel: "gemm", shape: { m: 96, n: 96, k: 96 }, iterations: 20 });
  [rival, wrong] = [await submit(textbook), await submit(broken)];
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

/** Runs a job to its end, so that there is something to show. */
async function finish(body: Parameters<typeof createJob>[0]): Promise<void> {
  const { state, problem } = await waitForJob(stack, await createJob(body), ["succeeded", "failed"]);
  expect(problem).toBeNull();
  expect(state).toBe("succeeded");
}

async function createJob(
  body: { readonly kernel: string; readonly shape: Readonly<Record<string, number>> } & (
    | { readonly kind: "tuning"; readonly budgetMs: number }
    | { readonly kind: "benchmark"; readonly iterations: number }
  ),
): Promise<string> {
  return (await stack.client.call(endpoints.createJob, { body })).id;
}

/** Submits a kernel and waits for its check. */
async function submit(body: KernelInput, client = stack.client): Promise<SubmittedKernel> {
  const { id } = await client.call(endpoints.submitKernel, { body });
  return waitFor(`${body.name} to be checked`, async () => {
    const kernel = await client.call(endpoints.getKernel, { params: { id } });
    return kernel.state === "unchecked" ? undefined : kernel;
  });
}

const openView = (hash = "", options: ViewOptions = {}, key = stack.adminKey) =>
  site.openView(`view=kernels${hash}`, { ...options, key });

const regionOf = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

const findings = (refused?: readonly number[]) => site.findings(refused);

describe("the list of kernels", () => {
  it("has the house's and the submitted ones, and leads to each by keyboard", async () => {
    const page = await openView();
    const { items } = await stack.client.call(endpoints.listKernels);
    const list = regionOf(page, "Kernels");
    await list.getByRole("table").waitFor();
    expect(await list.getByRole("row").count()).toBe(1 + items.length);
    await list.getByRole("row").filter({ hasText: "broken-gemm" }).getByText("invalid").waitFor();
    await list.getByRole("row").filter({ hasText: textbook.name }).getByText("valid", { exact: true }).waitFor();
    const search = page.getByRole("searchbox");
    await search.focus();
    await page.keyboard.type("TRIAD");
    await page
      .getByRole("status")
      .filter({ hasText: `1 of ${items.length} kernels` })
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "triad", exact: true }).waitFor();
    expect(page.url()).toContain("kernel=triad");
    await page.getByRole("link", { name: "All kernels" }).focus();
    await page.keyboard.press("Enter");
    await list.waitFor();
    expect(findings()).toEqual([]);
  });

  it("tells how to begin while there is none", async () => {
    const page = await site.openPage();
    await page.route("**/v1/kernels?*", (route) => route.fulfill({ json: { items: [], nextCursor: null } }));
    await page.route("**/v1/tunings?*", (route) => route.fulfill({ json: { items: [], nextCursor: null } }));
    await page.goto(`/#key=${stack.adminKey}&view=kernels`);
    await page.getByText("No runner has announced a kernel yet.").waitFor();
    await page.getByText("Nothing has been tuned yet.").waitFor();
    await page.getByText("npx millrace runner start").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("one kernel", () => {
  it("shows what it takes, and its source with numbered lines", async () => {
    const page = await openView("&kernel=gemm");
    const detail = regionOf(page, "gemm");
    await detail.getByRole("table", { name: "Sizes" }).getByText("Rows of A and C").waitFor();
    await detail.getByRole("table", { name: "Bindings of group 0" }).getByText("write").waitFor();
    await detail.getByRole("table", { name: "Variants and their axes" }).getByText("4, 8, 16, 32").waitFor();
    const source = regionOf(page, "Source");
    for (const file of ["shared-tiled.wgsl", "register-tiled.wgsl"]) {
      await source.getByRole("button", { name: file }).click();
      const lines = source.getByRole("region", { name: `Source of ${file}` }).locator(".line");
      const wgsl = readFileSync(join(kernels, "gemm", file), "utf8")
        .trimEnd()
        .split("\n");
      await expect.poll(() => lines.count()).toBe(wgsl.length);
      expect(await lines.last().textContent()).toBe(wgsl.at(-1));
    }
    expect(findings()).toEqual([]);
  });

  it("ranks runs by device, shape and clock, software devices marked, and takes a new one in live", async () => {
    const page = await openView("&kernel=gemm");
    const board = regionOf(page, "Leaderboard");
    const { boards } = await stack.client.call(endpoints.getLeaderboard, { params: { kernel: "gemm" } });
    const shape = board.getByRole("region", { name: "m 96, n 96, k 96" });
    await shape.waitFor();
    // GPUs come before what emulates them.
    const [first] = boards.toSorted((a, b) => Number(a.device.software) - Number(b.device.software));
    expect(await board.getByText("software", { exact: true }).count()).toBe(first?.device.software === true ? 1 : 0);
    // What was told by another clock is folded away.
    const ranked = shape.locator("tbody tr").filter({ has: page.locator("th", { hasText: /^1\. / }) });
    expect(await ranked.count()).toBe(
      boards.filter(({ shape: { m }, device }) => m === 96 && device.id === first?.device.id).length,
    );
    await shape.locator("a", { hasText: textbook.name }).first().waitFor({ state: "attached" });
    expect(boards.flatMap(({ entries }) => entries).some(({ shareOfRoof }) => shareOfRoof !== null)).toBe(true);
    await board
      .getByText(/^[\d.,]+%$/)
      .first()
      .waitFor({ state: "attached" });
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    const later = board.getByRole("region", { name: "m 33, n 33, k 33" });
    expect(await later.count()).toBe(0);
    await finish({ kind: "benchmark", kernel: "gemm", shape: { m: 33, n: 33, k: 33 }, iterations: 20 });
    await later.getByText("best", { exact: true }).first().waitFor({ timeout: LIVE_MS });
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true);
    expect(findings()).toEqual([]);
  });

  it("is put to a benchmark at sizes of one's own, and errors stand at their fields", async () => {
    const page = await openView("&kernel=gemm");
    const form = page.getByRole("form", { name: "Benchmark gemm" });
    await form.getByLabel("m", { exact: true }).fill("0");
    await form.getByLabel("n", { exact: true }).fill("40");
    await form.getByLabel("k", { exact: true }).fill("40");
    await form.getByLabel("Iterations").fill("20");
    await form.getByLabel("Device").selectOption({ index: 1 });
    await form.getByRole("button", { name: "Queue the benchmark" }).click();
    const field = form.getByLabel("m", { exact: true });
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    expect(await form.getByLabel("n", { exact: true }).getAttribute("aria-invalid")).toBe("false");
    await field.fill("40");
    await page.keyboard.press("Enter");
    const href = await page.getByRole("link", { name: "see its job" }).getAttribute("href");
    const id = /job=(job_\w+)/.exec(href ?? "")?.[1] ?? "";
    const { spec, state } = await waitForJob(stack, id, ["succeeded", "failed"]);
    expect(state).toBe("succeeded");
    expect(spec).toMatchObject({
      kernel: "gemm",
      shape: { m: 40, n: 40, k: 40 },
      iterations: 20,
      runnerId: stack.runnerId,
    });
    expect(findings([400, 422])).toEqual([]);
  });

  it("that was submitted shows its check, and what the compiler said beside its line", async () => {
    const page = await openView(`&kernel=${wrong.id}`);
    const detail = regionOf(page, "broken-gemm");
    await detail.getByText("invalid", { exact: true }).waitFor();
    await detail.getByText(wrong.problem?.detail ?? "nothing").waitFor();
    const marked = regionOf(page, "Source").locator(".line.wrong");
    await marked.waitFor();
    const [, line, , message] = /:(\d+):(\d+): (.*)/.exec(wrong.problem?.detail ?? "") ?? [];
    expect(await marked.locator("code").textContent()).toBe(broken.wgsl.split("\n")[Number(line) - 1]);
    expect(await marked.textContent()).toContain(`^ ${message}`);
    const ofRival = await detail.getByRole("link", { name: "gemm", exact: true }).getAttribute("href");
    expect(ofRival).toContain("kernel=gemm");
    expect(findings()).toEqual([]);
  });

  it("of one's own is deleted after a question; another's is not", async () => {
    const made = await stack.client.call(endpoints.createKey, {
      body: { name: "somebody", scopes: ["read", "submit"] },
    });
    const page = await openView(`&kernel=${rival.id}`, {}, made.secret);
    await page.getByRole("button", { name: `Delete the kernel ${rival.definition.name}` }).click();
    await page.getByRole("button", { name: "Yes, delete" }).click();
    await page.getByRole("alert").filter({ hasText: "This kernel is another key's" }).waitFor();
    expect(findings([403])).toEqual([]);
    await site.closePage();

    const theirs = createClient({ baseUrl: stack.baseUrl, key: made.secret });
    // Checked, so that no event of its job has the page read it again once it is gone.
    const own = await submit({ ...textbook, name: "short-lived" }, theirs);
    const again = await openView(`&kernel=${own.id}`, {}, made.secret);
    await again.getByRole("button", { name: "Delete the kernel short-lived" }).click();
    await again.getByRole("button", { name: "Yes, delete" }).click();
    await regionOf(again, "Kernels").getByRole("link", { name: textbook.name }).waitFor();
    await again.getByRole("link", { name: "short-lived" }).waitFor({ state: "detached" });
    expect(findings()).toEqual([]);
  });
});

describe("a tuning", () => {
  it("is shown with what it gained, and every trial drawn and listed", async () => {
    const page = await openView("&kernel=triad");
    const panel = regionOf(page, "Tunings");
    const { items } = await stack.client.call(endpoints.listTunings, { query: { kernel: "triad" } });
    const row = panel.getByRole("row").filter({ hasText: "n 4096" });
    await row.getByText(items[0]?.best.variant ?? "nothing").waitFor();
    expect(await row.getByText("software", { exact: true }).count()).toBe(items[0]?.software ? 1 : 0);
    const button = row.getByRole("button", { name: "Show trials of triad" });
    expect(await button.getAttribute("aria-pressed")).toBe("true");
    await panel
      .getByRole("img", { name: /^Times of \d+ candidates of triad; the best [\d.,]+ ms, the default / })
      .waitFor();
    await panel.getByText(/^All \d+ candidates as a table$/).click();
    const trials = panel.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Runs by rung" }) });
    expect(await trials.getByRole("row").count()).toBe(1 + (items[0]?.candidates ?? 0));
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("has a landscape over two axes, which the address keeps", async () => {
    const page = await openView("&kernel=gemm");
    const landscape = page.getByRole("figure", { name: "Landscape" });
    await landscape.getByLabel("Variant").selectOption("register-tiled");
    const cells = landscape.getByRole("table");
    await cells.getByRole("columnheader", { name: "lanesM down, lanesN across" }).waitFor();
    expect(await cells.getByRole("row").count()).toBe(1 + 4);
    await landscape.getByLabel("Across").selectOption("lanesM");
    await cells.getByRole("columnheader", { name: "lanesN down, lanesM across" }).waitFor();
    expect(page.url()).toContain("axes=register-tiled%2ClanesM");
    const { items } = await stack.client.call(endpoints.listTunings, { query: { kernel: "gemm" } });
    await page.reload();
    await cells.getByRole("columnheader", { name: "lanesN down, lanesM across" }).waitFor();
    const isThere = items[0]?.best.variant === "register-tiled";
    await landscape.getByLabel("Variant").selectOption(items[0]?.best.variant ?? "");
    await cells.getByText(/^best/).waitFor();
    expect(isThere || (await cells.getByRole("row").count()) > 1).toBe(true);
    await keepScreenshots(page, "kernel");
    expect(findings()).toEqual([]);
  });
});

it.each([
  ["light", 1280],
  ["dark", 1280],
  ["light", 390],
  ["dark", 390],
] as const)("the view has no serious finding in %s at %d pixels", async (colorScheme, width) => {
  for (const [hash, region] of [
    ["", "Kernels"],
    ["&kernel=gemm", "Source"],
    [`&kernel=${wrong.id}`, "Source"],
  ] as const) {
    const page = await openView(hash, { colorScheme, viewport: { width, height: 900 } });
    await regionOf(page, region).waitFor();
    await page
      .getByText(/^Reading /)
      .first()
      .waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
    await site.closePage();
  }
});
