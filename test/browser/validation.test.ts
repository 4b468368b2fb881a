import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { answerJudged, infeasible, optimisation, runner, validation } from "./judged-replies.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

let site: StackPage;

/** What a runner would have to measure is answered by samples. */
it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

const openView = (hash: string, options: ViewOptions = {}) =>
  site.openView(hash, { prepare: answerJudged, ...options });

const findings = () => site.findings();

const tableOf = (page: Page, column: string) =>
  page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: column, exact: true }) });

describe("the view of validations", () => {
  it("tells how to begin while there is none", async () => {
    const page = await site.openView("view=validation");
    await page.getByText("Nothing has been validated yet.").waitFor();
    await page.getByText('"kind": "optimisation"', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("lists the latest with their verdicts, and shows the newest", async () => {
    const page = await openView("view=validation");
    const rows = tableOf(page, "Verdict").getByRole("row");
    await rows.nth(1).getByText("fail", { exact: true }).waitFor();
    await rows.nth(2).getByText("found", { exact: true }).waitFor();
    await rows.nth(3).getByText("infeasible", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Validation of lenet5" }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("shows each requirement, each scenario and the curve of a validation", async () => {
    const page = await openView(`view=validation&run=${validation.id}`);
    const verdicts = tableOf(page, "Margin").getByRole("row");
    for (const [index, texts] of [
      ["p50 latency ≤ 10 ms", "pass", "1.47 ms to 1.53 ms", "85% left"],
      ["throughput ≥ 1,000/s", "fail", "900/s", "missed by 10%"],
      ["p99 latency ≤ 2 ms", "insufficient evidence", "1.98 ms or more"],
    ].entries())
      for (const text of texts)
        await verdicts
          .nth(index + 1)
          .filter({ hasText: text })
          .waitFor();
    const scenarios = tableOf(page, "Early stopping").getByRole("row");
    await scenarios.nth(1).getByText("p90 1.94 ms").waitFor();
    expect(await scenarios.getByText("short", { exact: true }).count()).toBe(2);
    await scenarios.nth(2).getByText("900 queries/s within 10 ms").waitFor();
    await page.getByRole("img", { name: "lenet5: p99 by rate, through the edge" }).waitFor();
    await keepScreenshots(page, "validation");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("shows an optimisation beside the default, with every trial, by keyboard", async () => {
    const page = await openView("view=validation");
    const button = tableOf(page, "Verdict").getByRole("row").nth(2).getByRole("button");
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Optimisation of lenet5" }).waitFor();
    expect(page.url()).toContain(`run=${optimisation.id}`);
    expect(await button.getAttribute("aria-pressed")).toBe("true");
    const targets = tableOf(page, "Found").getByRole("row");
    await targets.nth(1).getByText("7.6 ms").waitFor();
    expect(await targets.getByText("pass", { exact: true }).count()).toBe(2);
    await page.getByText("3.44 × the default's").waitFor();
    await page.getByRole("img", { name: "lenet5: 5 configurations" }).waitFor();
    await page.getByText("All 6 trials as a table").click();
    await page.getByText("The batch of 64 rows ran out of memory.").waitFor();
    await keepScreenshots(page, "optimisation");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("says in plain words that targets cannot be met, and what comes nearest", async () => {
    const page = await openView(`view=validation&run=${infeasible.id}`);
    await page.getByText("Infeasible.", { exact: true }).waitFor();
    const nearest = "p99 latency is 4.2 ms where 0.5 ms is wanted (8.4 times too slow).";
    await page.locator("p.notice").filter({ hasText: nearest }).waitFor();
    await tableOf(page, "Found").getByRole("row").nth(1).getByText("fail", { exact: true }).waitFor();
    expect(findings()).toEqual([]);
  });

  it("says so where a run is none of these", async () => {
    const page = await site.openView("view=validation&run=run_00000000000000000000000000");
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toContain("There is no run");
  });

  it.each(["light", "dark"] as const)(
    "draws its plots in %s as the reader prefers, and follows",
    async (colorScheme) => {
      const page = await openView(`view=validation&run=${validation.id}`, { colorScheme });
      const background = page.locator(".svg-plot rect").first();
      const [light, dark] = ["#ffffff", "#151c21"];
      await expect.poll(() => background.getAttribute("fill")).toBe(colorScheme === "light" ? light : dark);
      await page.emulateMedia({ colorScheme: colorScheme === "light" ? "dark" : "light" });
      await expect.poll(() => background.getAttribute("fill")).toBe(colorScheme === "light" ? dark : light);
      expect(await seriousFindings(page)).toEqual([]);
      expect(findings()).toEqual([]);
    },
  );

  it.each([validation, optimisation, infeasible])("fits a phone", async ({ id }) => {
    const page = await openView(`view=validation&run=${id}`, { viewport: { width: 390, height: 740 } });
    await page.locator(".svg-plot svg").first().waitFor();
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("variants and batch sizes", () => {
  it("sets each variant beside the first, and draws the batches of one with what to take", async () => {
    const page = await openView("view=validation");
    const rows = tableOf(page, "Most rows a second").getByRole("row");
    for (const text of ["int8", "97%", "2 ms (2 ×)", "842/s (1.5 ×)"])
      await rows.nth(2).filter({ hasText: text }).waitFor();
    const button = page.getByRole("button", { name: "Show batch sizes of int8 on cpu by ort-cpu" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "lenet5@1 int8 on cpu by ort-cpu" }).waitFor();
    await page.getByText("The knee: larger batches gain little and take longer.", { exact: true }).waitFor();
    await page.getByText("10 within 57.2 MiB, asked for").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("a runner's diagnosis", () => {
  it("tells what failed first and what to change", async () => {
    const page = await openView("view=runners");
    const button = page.getByRole("button", { name: "Show the runner sample" });
    await button.focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("region", { name: "Diagnosis" });
    await panel.getByText("not healthy").waitFor();
    const lines = tableOf(page, "Check").getByRole("row");
    await lines.nth(1).getByText("Host load").waitFor();
    await lines.nth(1).getByText("91% of the cores", { exact: true }).waitFor();
    await lines.nth(1).getByText("Stop what else runs there, or lower threads.").waitFor();
    await lines.nth(4).getByText("not known").waitFor();
    expect(page.url()).toContain(`runner=${runner.id}`);
    await panel.getByText("gpu-accelerated: does not fit").click();
    await panel.getByRole("cell", { name: "fail install the driver of a real GPU" }).waitFor();
    const targets = tableOf(page, "Target").getByRole("row");
    for (const text of ["≤ 3 ms", "p50 4.2 ms", "fail", "serve a smaller variant"])
      await targets.nth(1).filter({ hasText: text }).waitFor();
    await targets.nth(2).filter({ hasText: "≥ 5,000/s" }).filter({ hasText: "not known" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("img", { name: "Temperature over the last 120 s" }).waitFor();
    const sizes = tableOf(page, "Rows/s").getByRole("row");
    for (const text of ["lenet5@1 int8 on cpu by ort-cpu", "9.5 ms", "842", "–"])
      await sizes.nth(2).filter({ hasText: text }).waitFor();
    await keepScreenshots(page, "runner-sample");
    expect(findings()).toEqual([]);
  });

  it("fits a phone", async () => {
    const page = await openView(`view=runners&runner=${runner.id}`, {
      viewport: { width: 390, height: 740 },
      colorScheme: "dark",
    });
    await page.getByText("not healthy").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});
