import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { drawPlot } from "../../src/edge/plots/draw-plot.ts";
import { tradePlot } from "../../src/edge/models/sweep/sweep-plots.ts";
import { weighVariants } from "../../src/edge/models/sweep/weigh-variants.ts";
import { ModelPage, ModelVariant, type Placement } from "../../src/protocol/models/model.ts";
import { PlotLook } from "../../src/protocol/models/plot-endpoints.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

const fileOf = (name: string) => ({
  mediaType: "application/octet-stream",
  content: new Uint8Array(readFileSync(join(import.meta.dirname, `../../models/${name}/${name}.onnx`))),
});

let site: StackPage;
let client: Client;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
  client = site.stack.client;
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

/** Where a runner would have measured a model, with the times given in milliseconds. */
function placed(modelVersionId: string, p50: number, changes: Partial<Placement>): Placement {
  const serviceMs = { count: 50, min: p50, max: p50 * 3, sum: p50 * 60, mean: p50 * 1.2, standardDeviation: 0 };
  const times = { ...serviceMs, p50, p90: p50 * 1.5, p95: p50 * 2, p99: p50 * 2.5, sketch: "" };
  return {
    id: `plc_${"0".repeat(25)}${changes.deviceKey === "gpu0" ? 1 : 0}`,
    modelVersionId,
    runnerId: `rnr_${"0".repeat(26)}`,
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    backend: "ort-cpu",
    state: "eligible",
    fidelity: 1,
    sweep: [{ rows: 1, serviceMs: times }],
    memory: null,
    loadMs: 2,
    linkMs: times,
    configuration: { intraOpThreads: 1, maxRows: null, inFlight: 1 },
    validated: null,
    updatedAt: "2026-11-22T07:00:00.000Z",
    ...changes,
  } as Placement;
}

const int8 = ModelVariant.parse({
  name: "int8",
  digest: `sha256:${"0".repeat(64)}`,
  sizeBytes: 70_000,
  fidelity: 0.98,
  recipe: { method: "int8" },
  measured: {
    basis: "metric",
    value: 0.98,
    metric: "accuracy",
    rows: 300,
    parent: 0.97,
    variant: 0.96,
    difference: { value: -0.01, low: -0.03, high: 0 },
  },
  jobId: `job_${"0".repeat(26)}`,
  createdAt: "2026-11-22T07:00:00.000Z",
});

const openView = (options: ViewOptions = {}) => site.openView("view=models", options);

const findings = () => site.findings();

describe("the view of models", () => {
  it("tells how to begin while there is none", async () => {
    const page = await openView();
    await page.getByText("No model has been uploaded yet.").waitFor();
    await page.getByText("/v1/models?name=cartpole").waitFor();
    await keepScreenshots(page, "models-empty");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("opens in a browser whose language is none, as under LANG=C", async () => {
    const page = await openView({
      async prepare(opened) {
        const language = { value: "en-US@posix", configurable: true };
        await opened.addInitScript((given) => void Object.defineProperty(navigator, "language", given), language);
      },
    });
    await page.getByText("No model has been uploaded yet.").waitFor();
    expect(findings()).toEqual([]);
  });

  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("shows a graph, its variants and its latency, in %s at %d pixels", async (colorScheme, width) => {
    const upload = (name: string) => client.call(endpoints.uploadModel, { query: { name }, rawBody: fileOf(name) });
    const { version } = await upload("lenet5");
    await upload("cartpole");
    const items = [
      placed(version.id, 0.5, {}),
      placed(version.id, 0.3, { variant: "int8", fidelity: 0.98 }),
      placed(version.id, 4, { deviceKey: "gpu0", software: true, backend: "ort-webgpu" }),
    ];
    const page = await openView({ colorScheme, viewport: { width, height: 900 } });
    await page.route("**/models/lenet5/placements", (route) => route.fulfill({ json: { items } }));
    await page.route("**/v1/models?*", async (route) => {
      const response = await route.fetch();
      const json = ModelPage.parse(await response.json());
      json.items.find(({ name }) => name === "lenet5")?.versions[0]?.variants.push(int8);
      await route.fulfill({ response, json });
    });
    await page.route("**/models/lenet5/plots/trade.svg?*", (route) => {
      const { searchParams } = new URL(route.request().url());
      const look = PlotLook.parse({ theme: searchParams.get("theme"), width: searchParams.get("width") });
      const trade = { model: "lenet5", version: 1, items: weighVariants(version, items) };
      return route.fulfill({ contentType: "image/svg+xml", body: drawPlot(tradePlot(trade)!, look) });
    });
    // What it has read so far came past these routes.
    await page.reload();
    await page.getByRole("heading", { name: "cartpole" }).waitFor();
    await page.getByText("No runner has measured it yet.").waitFor();
    await page.getByText("It has no smaller variant yet.").waitFor();
    await page.getByText("/v1/models/cartpole/variants").waitFor();
    const show = page.getByRole("button", { name: "Show the model lenet5" });
    await show.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "lenet5" }).waitFor();
    expect(page.url()).toContain("model=lenet5");
    await page.getByText("2 Conv").waitFor();
    await page.getByText("image: float32 n × 1 × 28 × 28").waitFor();
    const made = page.getByRole("row", { name: "int8" }).first();
    await made.getByText("accuracy 0.96 beside 0.97, on 300 rows of its data").waitFor();
    await made.getByText("weights of 8 bits").waitFor();
    expect(await made.getByRole("link", { name: "its job" }).getAttribute("href")).toBe(`#view=jobs&job=${int8.jobId}`);
    expect(await page.getByText("It has no smaller variant yet.").count()).toBe(0);
    await page.getByRole("img", { name: /^lenet5@1: latency against fidelity/ }).waitFor();
    const latency = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "p95" }) });
    await latency.getByText("0.5 ms").waitFor();
    expect(await latency.getByRole("row").nth(3).textContent()).toMatch(/gpu0.*software.*4 ms8 ms10 ms/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    if (colorScheme === "light" && width === 1280) await keepScreenshots(page, "models");
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("leads to the job that makes a variant", async () => {
    await client.call(endpoints.uploadModel, { query: { name: "cartpole" }, rawBody: fileOf("cartpole") });
    const { id } = await client.call(endpoints.createVariant, {
      params: { model: "cartpole" },
      body: { recipe: { method: "fp16" } },
    });
    const page = await site.openPage();
    await page.goto(`/#key=${site.stack.adminKey}&view=jobs&job=${id}`);
    await page.getByRole("heading", { name: "compression cartpole@1" }).waitFor();
    await page.getByRole("status").filter({ hasText: "queued" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});
