import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import { readVariantCard, readZooCard } from "../model-card.ts";
import { countOnnxParameters } from "../onnx-parameter-count.ts";
import { HELD_OUT_SHARE, loadDigits } from "./digits.ts";
import type { Digit } from "./digits.ts";

type SplitFile = {
  heldOutShare: number;
  classes: { label: number; train: number; heldOut: number }[];
  heldOutSha256: string;
};

const PIXELS = 28 * 28;
/** As the runner has it: processors without VNNI overflow otherwise. */
const OPTIONS = { intraOpNumThreads: 1, extra: { session: { x64quantprecision: "1" } } };
const card = readZooCard(new URL("./", import.meta.url));
/** Evaluation on all held-out digits: the file beside the card has an eighth of them. */
const evaluation = card.wholeEvaluation!;
const cardText = readText("card.md");
const file = readFileSync(new URL("lenet5.onnx", import.meta.url));
const heldOut = loadDigits("heldOut");

describe("loadDigits", () => {
  const recorded = JSON.parse(readText("split.json")) as SplitFile;

  it("cuts every class where the recipe did", () => {
    const train = loadDigits("train");
    const count = (digits: Digit[], label: number) => digits.filter((digit) => digit.label === label).length;
    expect(HELD_OUT_SHARE).toBe(recorded.heldOutShare);
    expect(recorded.classes).toEqual(
      Array.from({ length: 10 }, (_, label) => ({ label, train: count(train, label), heldOut: count(heldOut, label) })),
    );
  });

  it("holds out the very pixels that the recipe held out, none of which it trained on", () => {
    const hash = createHash("sha256");
    for (const { pixels } of heldOut) hash.update(toBytes(pixels));
    expect(hash.digest("hex")).toBe(recorded.heldOutSha256);

    const seen = new Set(loadDigits("train").map(({ pixels }) => toBytes(pixels).toString("base64")));
    expect(heldOut.filter(({ pixels }) => seen.has(toBytes(pixels).toString("base64")))).toHaveLength(0);
  });
});

describe("lenet5.onnx", () => {
  let session: InferenceSession;
  beforeAll(async () => {
    session = await InferenceSession.create(file, OPTIONS);
  });

  it("holds the parameters of its layers, as the card counts them", () => {
    const layers = [6 * 25 + 6, 16 * 6 * 25 + 16, 120 * 400 + 120, 84 * 120 + 84, 10 * 84 + 10];
    expect(countOnnxParameters(file)).toBe(layers.reduce((sum, size) => sum + size));
    expect(countOnnxParameters(file)).toBe(card.parameters);
  });

  it("labels the held-out digits as well as the card says", async () => {
    const accuracy = await measureAccuracy(session, heldOut);
    expect(heldOut).toHaveLength(evaluation.n);
    expect(accuracy).toBeGreaterThanOrEqual(0.97);
    expect(accuracy).toBeGreaterThanOrEqual(evaluation.interval.low);
    expect(accuracy).toBeLessThanOrEqual(evaluation.interval.high);
  });

  it("labels no better than chance when the digits are blank or belong to other labels", async () => {
    const blank = heldOut.map(({ label }) => ({ label, pixels: new Float32Array(PIXELS) }));
    // 997 and 1996 share no factor, so every image goes to exactly one other label.
    const shuffled = heldOut.map(({ label }, i) => ({ label, pixels: heldOut[(i * 997) % heldOut.length]!.pixels }));
    expect(await measureAccuracy(session, blank)).toBeLessThan(0.15);
    expect(await measureAccuracy(session, shuffled)).toBeLessThan(0.15);
  });

  it("gives one image the logits that it has in a batch", async () => {
    const pair = await runLogits(session, heldOut.slice(0, 2));
    const alone = await runLogits(session, heldOut.slice(0, 1));
    alone.forEach((logit, index) => expect(logit).toBeCloseTo(pair[index]!, 4));
  });
});

describe("lenet5-int8.onnx", () => {
  const variant = readVariantCard(new URL("int8.json", import.meta.url));
  const bytes = readFileSync(new URL(variant.file.name, import.meta.url));
  let [own, int8]: InferenceSession[] = [];
  beforeAll(async () => {
    own = await InferenceSession.create(file, OPTIONS);
    int8 = await InferenceSession.create(bytes, OPTIONS);
  });

  it("is the file that its card tells of, made from this very lenet5.onnx", () => {
    expect(bytes.length).toBe(variant.file.sizeBytes);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(variant.file.sha256);
    expect(variant.of).toBe(card.file.sha256);
    expect(bytes.length).toBeLessThan(file.length / 3);
  });

  it("labels the held-out digits as well as its card says, and as lenet5.onnx does in the share that is its fidelity", async () => {
    const accuracy = await measureAccuracy(int8!, heldOut);
    expect(accuracy).toBeGreaterThanOrEqual(variant.accuracy.interval.low);
    expect(accuracy).toBeLessThanOrEqual(variant.accuracy.interval.high);
    expect(heldOut).toHaveLength(variant.accuracy.n);
    const [labels, originals] = [await labelAll(int8!, heldOut), await labelAll(own!, heldOut)];
    const same = labels.filter((label, index) => label === originals[index]).length;
    // Another version of the runtime may round another way: a few digits at most.
    expect(Math.abs(same / heldOut.length - variant.fidelity)).toBeLessThan(0.002);
    expect(same).toBeLessThan(heldOut.length);
  });

  it("gives one image the very logits that it has in a batch, whoever it is computed with", async () => {
    const [alone, among] = [heldOut.slice(0, 1), heldOut.slice(0, 8)];
    expect((await runLogits(int8!, among)).subarray(0, 10)).toEqual(await runLogits(int8!, alone));
  });

  it("has the figures of its card in card.md", () => {
    const { value, interval } = variant.accuracy;
    expect(cardText).toContain(`${variant.file.sizeBytes.toLocaleString("en")} bytes`);
    expect(cardText).toContain(`${percent(value)} [${percent(interval.low)}, ${percent(interval.high)}]`);
    expect(cardText).toContain(percent(variant.fidelity));
  });
});

describe("card.md", () => {
  it("gives the figures of card.json", () => {
    const { value, interval, n, baseline } = evaluation;
    expect(cardText).toContain(`${card.file.sizeBytes.toLocaleString("en")} bytes`);
    expect(cardText).toContain(card.parameters.toLocaleString("en"));
    expect(cardText).toContain(`${percent(value)} [${percent(interval.low)}, ${percent(interval.high)}]`);
    expect(cardText).toContain(n.toLocaleString("en"));
    expect(cardText).toContain(percent(baseline.value));
  });
});

function readText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

function toBytes(pixels: Float32Array): Buffer {
  return Buffer.from(pixels.map((level) => Math.round(level * 255)));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** Logits [digits, 10] in one array. */
async function runLogits(session: InferenceSession, digits: readonly Digit[]): Promise<Float32Array> {
  const images = new Float32Array(digits.length * PIXELS);
  digits.forEach(({ pixels }, index) => images.set(pixels, index * PIXELS));
  const { logits } = await session.run({ image: new Tensor("float32", images, [digits.length, 1, 28, 28]) });
  return logits!.data as Float32Array;
}

async function labelAll(session: InferenceSession, digits: readonly Digit[]): Promise<number[]> {
  const logits = await runLogits(session, digits);
  return digits.map((_, index) => {
    const row = logits.subarray(index * 10, index * 10 + 10);
    return row.indexOf(Math.max(...row));
  });
}

async function measureAccuracy(session: InferenceSession, digits: readonly Digit[]): Promise<number> {
  const labels = await labelAll(session, digits);
  return digits.filter(({ label }, index) => label === labels[index]).length / digits.length;
}
