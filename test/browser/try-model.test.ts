import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type LocalStack, placeModel } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

/** Long enough for a machine that is busy with something else. */
const BUDGET_MS = 60_000;
const SIDE = 28;

let site: StackPage;
let stack: LocalStack;
let readKey: string;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: true });
  stack = site.stack;
  for (const model of ["lenet5", "dncnn5", "bearing-fault"]) await placeModel(stack, model);
  readKey = (await stack.client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } })).secret;
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

async function openModel(model: string, options: ViewOptions = {}, key = stack.adminKey): Promise<Page> {
  const page = await site.openView(`view=models&model=${model}`, { ...options, key });
  await page.getByRole("heading", { name: "Try it" }).waitFor();
  return page;
}

const findings = () => site.findings();
const panelOf = (page: Page) => page.getByRole("region", { name: "Try it" });
const budgetOf = (page: Page) => page.getByRole("spinbutton", { name: "Budget (ms)" });
const sendButton = (page: Page) => page.getByRole("button", { name: "Ask the model" });

/** Asks with time enough, and waits for the answer; again where it is refused, since models may still be measured. */
async function ask(page: Page): Promise<void> {
  await budgetOf(page).fill(String(BUDGET_MS));
  const answer = panelOf(page).getByRole("img", { name: /^Measured: edge .* ms, link .* ms/ });
  for (const endMs = performance.now() + 4 * BUDGET_MS; ;) {
    await sendButton(page).click({ timeout: BUDGET_MS });
    const isThere = await answer.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    if (performance.now() > endMs) throw new Error("no answer came");
  }
}

const example = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../models/lenet5/example-request.json"), "utf8"),
) as { readonly inputs: { readonly image: { readonly data: readonly number[] } } };

/** The digit of the example as a scan of it would be: dark ink on light paper. */
function digitFile() {
  const grey = example.inputs.image.data.map((ink) => 255 - Math.round(ink * 255));
  return { name: "digit.png", mimeType: "image/png", buffer: encodePng(grey, SIDE) };
}

/** A square picture of grey bytes as a PNG file. */
function encodePng(grey: readonly number[], side: number): Buffer {
  const rows = Array.from({ length: side }, (_, row) => [0, ...grey.slice(row * side, (row + 1) * side)]);
  const chunk = (type: string, content: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  // Eight bits of grey.
  head[8] = 8;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const content = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", content), chunk("IEND", Buffer.alloc(0))]);
}

/** A tenth of a second of a tone on both channels, as a WAV file of 16 bits at 32 kHz. */
function toneFile() {
  const [rate, samples] = [32_000, 3_200];
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples * 4, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 4, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples * 4, 40);
  const tone = Buffer.alloc(samples * 4);
  for (let at = 0; at < samples * 2; at++)
    tone.writeInt16LE(Math.round(20_000 * Math.sin((2 * Math.PI * 440 * Math.floor(at / 2)) / rate)), at * 2);
  return { name: "tone.wav", mimeType: "audio/wav", buffer: Buffer.concat([head, tone]) };
}

describe("a model that is tried", () => {
  it("reads a digit from a picture's file, and says where it ran and what took how long", async () => {
    const { outputs } = await stack.client.call(endpoints.infer, {
      body: {
        model: "lenet5",
        budgetMs: BUDGET_MS,
        inputs: { image: { shape: [1, 1, SIDE, SIDE], data: [...example.inputs.image.data] } },
      },
    });
    const logits = (outputs.logits?.data ?? []) as number[];
    const digit = logits.indexOf(Math.max(...logits));

    const page = await openModel("lenet5");
    const panel = panelOf(page);
    await panel.getByText("Wanting: image").waitFor();
    expect(await sendButton(page).getAttribute("aria-disabled")).toBe("true");
    await panel.getByLabel("A picture, chosen or dropped here").setInputFiles(digitFile());
    await panel.getByLabel("Invert: dark becomes light").check();
    await panel.getByRole("img", { name: "What image gets to see" }).waitFor();
    await ask(page);
    const classes = panel.getByRole("table", { name: "The highest of logits" });
    await classes
      .getByRole("row")
      .nth(1)
      .getByRole("rowheader", { name: String(digit), exact: true })
      .waitFor();
    // The pixels made it through the file and the canvas unchanged, but for their rounding to bytes.
    const shown = Number(await classes.getByRole("row").nth(1).getByRole("cell").first().textContent());
    expect(Math.abs(shown - (logits[digit] ?? 0))).toBeLessThan(0.1 * Math.abs(logits[digit] ?? 0));
    await panel.getByText(/^met: .* ms of 60,000 ms$/).waitFor();
    await panel.getByText("fp32 by ort-cpu, fidelity 100%").waitFor();
    await panel.getByRole("img", { name: /^Predicted: link .* ms, queue .* ms, service .* ms/ }).waitFor();
    await keepScreenshots(page, "model");
    const times = panel.getByRole("table", { name: "Where the time went" });
    for (const part of ["edge", "link", "queue", "upload", "compute", "readback"])
      await times.getByRole("row").filter({ hasText: part }).getByText(/ ms$/).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("takes numbers by keyboard alone, and says what is wrong with them", async () => {
    const page = await openModel("lenet5");
    const panel = panelOf(page);
    await panel.getByLabel("Given as").selectOption("numbers");
    const numbers = panel.getByRole("textbox", { name: "Numbers of image" });
    await numbers.focus();
    await page.keyboard.type("1, 2, 3");
    await panel.getByText("784 numbers a row are wanted, these are 3").waitFor();
    expect(await numbers.getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await panel.getByText("as float32 1 × 1 × 28 × 28").waitFor();
    expect(await numbers.inputValue()).toMatch(/^0, 0, 0/);
    await budgetOf(page).fill(String(BUDGET_MS));
    await page.keyboard.press("Enter");
    await panel.getByRole("table", { name: "The highest of logits" }).waitFor({ timeout: BUDGET_MS });
    await panel.getByRole("button", { name: "Random" }).click();
    await expect.poll(() => numbers.inputValue()).not.toMatch(/^0, 0, 0/);
    expect(findings()).toEqual([]);
  });

  it("gives a picture for a picture", async () => {
    const page = await openModel("dncnn5");
    const panel = panelOf(page);
    await panel.getByLabel("A picture, chosen or dropped here").setInputFiles(digitFile());
    await ask(page);
    const picture = panel.getByRole("img", { name: /^clean as a picture/ });
    expect(await picture.evaluate((canvas) => [canvas.getAttribute("width"), canvas.getAttribute("height")])).toEqual([
      "20",
      "20",
    ]);
    expect(findings()).toEqual([]);
  });

  it("hears a sound at the rate that is asked for, and says so where a file is none", async () => {
    const page = await openModel("bearing-fault");
    const panel = panelOf(page);
    await panel.getByLabel("Given as").selectOption("sound");
    const file = panel.getByLabel("A sound, chosen or dropped here");
    await file.setInputFiles({ ...digitFile(), name: "silent.wav" });
    await panel.getByRole("alert").filter({ hasText: "silent.wav is no sound" }).waitFor();
    await file.setInputFiles(toneFile());
    await panel.getByRole("img", { name: "512 samples of 1,600 at 16,000 Hz" }).waitFor();
    await panel.getByRole("spinbutton", { name: "Samples a second (Hz)" }).fill("8000");
    await panel.getByRole("img", { name: "512 samples of 800 at 8,000 Hz" }).waitFor();
    await ask(page);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });

  it("refuses a budget that nothing meets, and offers the one that would do", async () => {
    const page = await openModel("lenet5");
    const panel = panelOf(page);
    await panel.getByLabel("Given as").selectOption("numbers");
    await panel.getByRole("button", { name: "Zeros" }).click();
    await budgetOf(page).fill("0.1");
    await sendButton(page).click();
    await panel.getByRole("link", { name: "No placement meets the budget" }).waitFor();
    const offer = panel.getByRole("button", { name: /^Fits in [\d.,]+ ms: take that budget$/ });
    const said = /Fits in ([\d.,]+) ms/.exec((await offer.textContent()) ?? "")?.[1];
    expect(await seriousFindings(page)).toEqual([]);
    await offer.focus();
    await page.keyboard.press("Enter");
    // Shown with three digits, taken as it is.
    const takenMs = async () => Number(await budgetOf(page).inputValue());
    await expect.poll(takenMs).toBeGreaterThan(0.1);
    const taken = await takenMs();
    expect(Number(taken.toPrecision(3))).toBe(Number(Number(said?.replaceAll(",", "")).toPrecision(3)));
  });

  it("tells a key without the scope that it may not ask", async () => {
    const page = await openModel("lenet5", {}, readKey);
    const panel = panelOf(page);
    await panel.getByLabel("Given as").selectOption("numbers");
    await panel.getByRole("button", { name: "Zeros" }).click();
    await sendButton(page).click();
    await panel.getByText("one with the infer scope can").waitFor();
    expect(await sendButton(page).getAttribute("aria-disabled")).toBe("true");
  });

  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("shows its calibration, in %s at %d pixels", async (colorScheme, width) => {
    const { items } = await stack.client.call(endpoints.listPlacements, { params: { model: "lenet5" } });
    const sweep = items[0]?.sweep ?? [];
    const page = await openModel("lenet5", { colorScheme, viewport: { width, height: 900 } });
    await page
      .getByRole("img", { name: /^Service by rows of a batch of fp32 by ort-cpu on cpu .*: batches of 1 [\d.,]+ ms/ })
      .waitFor();
    await page.getByText(`All ${sweep.length} batch sizes as a table`).click();
    const table = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Rows/s" }) });
    expect(await table.getByRole("row").count()).toBe(1 + sweep.length);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});
