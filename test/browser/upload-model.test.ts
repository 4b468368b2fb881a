import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { writeExternalModel } from "../edge/stack/external-model.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

let site: StackPage;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: false });
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

const [ROWS, COLUMNS] = [262_144, 9];
/** 9 MiB: two parts. */
const weights = Buffer.alloc(ROWS * COLUMNS * 4, 1);
const graph = writeExternalModel([
  { name: "w", dims: [ROWS, COLUMNS], external: { location: "weights.bin", length: String(weights.byteLength) } },
]);
const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/octet-stream", buffer });
const cartpole = readFileSync(join(import.meta.dirname, "../../models/cartpole/cartpole.onnx"));

async function openForm(options: ViewOptions = {}): Promise<Page> {
  const page = await site.openView("view=models", options);
  await page.getByRole("button", { name: "Upload a model" }).click();
  await page.getByRole("form", { name: "Upload a model" }).waitFor();
  return page;
}

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const send = (page: Page) => page.getByRole("button", { name: "Upload", exact: true }).click();

/** What stands beside a field that the edge refuses; the field itself says so, too. */
async function errorOf(page: Page, label: string): Promise<string | null> {
  const control = field(page, label);
  await control.and(page.locator('[aria-invalid="true"]')).waitFor();
  const id = (await control.getAttribute("aria-describedby"))?.split(" ").at(-1);
  return page.locator(`[id="${id}"]`).textContent();
}

describe("a model that is uploaded on the page", () => {
  it("is sent at once where it is one small file, and is shown with what can serve it", async () => {
    const page = await openForm();
    const isFocused = () => field(page, "Name").evaluate((control) => control === document.activeElement);
    await expect.poll(isFocused).toBe(true);
    await field(page, "Name").fill("balancer");
    await field(page, "ONNX file").setInputFiles(file("cartpole.onnx", cartpole));
    expect(await seriousFindings(page)).toEqual([]);
    await send(page);
    const note = page.getByRole("group", { name: "balancer has the version 1." });
    await note.getByText(/ort-cpu.*edge-wasm|edge-wasm.*ort-cpu/).waitFor();
    await page.getByRole("region", { name: "balancer", exact: true }).getByText("version 1 of 1").waitFor();
    await expect.poll(() => page.url()).toContain("model=balancer");
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Upload a model" }).waitFor();
    expect(site.findings()).toEqual([]);
  });

  it("is sent in parts with its weights beside it, can be stopped, and goes on where it ended", async () => {
    const page = await openForm();
    const sent: string[] = [];
    page.on("request", (request) => {
      const number = /\/v1\/uploads\/.*\/parts\/(\d+)/.exec(request.url())?.[1];
      if (number !== undefined) sent.push(`${request.postDataBuffer()?.byteLength} in ${number}`);
    });
    // The second part is held back until the upload is stopped.
    await page.route("**/v1/uploads/*/parts/2?*", () => undefined);
    await field(page, "Name").fill("parts");
    await field(page, "ONNX file").setInputFiles(file("model.onnx", Buffer.from(graph)));
    await field(page, "Files with its weights").setInputFiles([file("weights.bin", weights)]);
    await send(page);
    await page.getByText("Sending weights.bin: 8 MiB of 9 MiB, 88.9%").waitFor();
    await page.getByRole("status").filter({ hasText: "Sending weights.bin: 80%" }).waitFor();
    const bar = page.getByRole("progressbar", { name: "Sending weights.bin" });
    expect(await bar.evaluate((element) => (element as HTMLProgressElement).position)).toBeCloseTo(8 / 9);
    await keepScreenshots(page, "upload-progress");
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await expect.poll(() => sent.length).toBe(3);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("alert").filter({ hasText: "Stopped." }).waitFor();
    expect(sent).toHaveLength(3);
    await page.unroute("**/v1/uploads/*/parts/2?*");
    await send(page);
    const note = page.getByRole("group", { name: "parts has the version 1." });
    await note.getByText("Not wgsl").waitFor();
    // Neither the file with the graph nor the first part of the weights was sent again.
    expect(sent.slice(3).map((each) => each.split(" in ")[1])).toEqual(["2"]);
    await keepScreenshots(page, "upload-stored");
    const { versions } = await site.stack.client.call(endpoints.getModel, { params: { model: "parts" } });
    expect(versions[0]?.files.map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
      ["model.onnx", graph.byteLength],
      ["weights.bin", weights.byteLength],
    ]);
    expect(site.findings()).toEqual([]);
  });

  it("has what is wrong with it shown at the field, and is sent again from there", async () => {
    const page = await openForm();
    await field(page, "Name").fill("a b");
    await send(page);
    expect(await errorOf(page, "Name")).toContain("must be letters");
    await field(page, "Name").fill("refused");
    await send(page);
    expect(await errorOf(page, "ONNX file")).toBe("must be a file");
    const zip = Buffer.from("PK\u0003\u0004 a model inside");
    await field(page, "ONNX file").setInputFiles(file("model.zip", zip));
    await send(page);
    expect(await errorOf(page, "ONNX file")).toBe("the file is a zip archive: unpack it first");
    await keepScreenshots(page, "upload-refused");
    expect(await seriousFindings(page)).toEqual([]);
    await field(page, "ONNX file").setInputFiles(file("cartpole.onnx", cartpole));
    await field(page, "Shapes to measure").fill('{"nothing": [[1, 4]]}');
    await send(page);
    expect(await errorOf(page, "Shapes to measure")).toContain("names nothing");
    await field(page, "Shapes to measure").fill("");
    await field(page, "ONNX file").setInputFiles(file("model.onnx", Buffer.from(graph)));
    await field(page, "Files with its weights").setInputFiles([
      file("weights.bin", weights),
      file("more.bin", Buffer.alloc(8)),
    ]);
    await send(page);
    expect(await errorOf(page, "Files with its weights")).toBe("more.bin is a file without weights of it");
    await field(page, "Files with its weights").setInputFiles([]);
    await send(page);
    expect(await errorOf(page, "ONNX file")).toContain("weights lie outside of the file");
    expect((await site.stack.client.call(endpoints.listModels)).items.map(({ name }) => name)).not.toContain("refused");
    expect(site.findings([400, 422])).toEqual([]);
  });

  it("needs the scope for it, and the page says so before a form is filled in", async () => {
    const { secret } = await site.stack.client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } });
    const page = await site.openView("view=models", { key: secret });
    const button = page.getByRole("button", { name: "Upload a model" });
    await button.click();
    await page.getByRole("alert").filter({ hasText: "a key with the submit scope can change this" }).waitFor();
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await page.getByRole("form", { name: "Upload a model" }).count()).toBe(0);
    expect(site.findings([403])).toEqual([]);
  });
});
