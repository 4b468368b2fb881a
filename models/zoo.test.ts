import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { readModel } from "../src/onnx/read-model.ts";
import { type HeldOut, readHeldOut } from "../src/protocol/models/held-out-file.ts";
import { isHigherBetter, measureTask } from "../src/stats/score/task/task-metric.ts";
import { answerHeldOut } from "./answer-held-out.ts";
import { drawWeights } from "./draw-weights.ts";
import { readZooCard, type ZooCard } from "./model-card.ts";
import { countOnnxParameters } from "./onnx-parameter-count.ts";
import { writeCard } from "./write-card.ts";
import { ZOO, zooFolder } from "./zoo.ts";

const MOST_HELD_OUT_BYTES = 200 * 1024;
const MOST_ONNX_BYTES = 8 * 2 ** 20;
const MOST_BYTES = 16 * 2 ** 20;
const PARAMETERS = { fewest: 20_000, most: 78_000 };

describe.each(ZOO)("$name", ({ name, category }) => {
  const folder = zooFolder(name);
  const card = readZooCard(folder);
  const file = readFileSync(new URL(card.file.name, folder));
  const samples = readFileSync(new URL(card.heldOut.file, folder));
  let heldOut: HeldOut;
  beforeAll(() => {
    heldOut = readHeldOut(samples);
  });

  it("has a card of the very files beside it", () => {
    expect(card).toMatchObject({ name, category });
    expect(describeBytes(file)).toEqual({ sizeBytes: card.file.sizeBytes, sha256: card.file.sha256 });
    expect(describeBytes(samples)).toEqual({ sizeBytes: card.heldOut.sizeBytes, sha256: card.heldOut.sha256 });
    expect(samples.length).toBeLessThanOrEqual(MOST_HELD_OUT_BYTES);
    expect(heldOut).toMatchObject({ metric: card.metric, rows: card.heldOut.rows });
    expect(card.evaluation.n).toBe(card.heldOut.rows);
  });

  it("has as many parameters as its card counts, and as many as the zoo takes", () => {
    expect(countOnnxParameters(file)).toBe(card.parameters);
    expect(card.parameters).toBeGreaterThanOrEqual(PARAMETERS.fewest);
    expect(card.parameters).toBeLessThanOrEqual(PARAMETERS.most);
  });

  it("takes and gives what the card says, for any number of rows", () => {
    const { opset, inputs, outputs } = readModel(file);
    const describeValues = (values: typeof inputs) =>
      values.map((value) => ({ ...value, shape: value.shape.map((size) => (typeof size === "number" ? size : -1)) }));
    const withoutMeaning = (tensors: ZooCard["inputs"]) =>
      tensors.map(({ name: tensor, dtype, shape }) => ({ name: tensor, dtype, shape }));
    expect(opset).toBe(card.file.opset);
    expect(describeValues(inputs)).toEqual(withoutMeaning(card.inputs));
    expect(describeValues(outputs)).toEqual(withoutMeaning(card.outputs));
    expect([...inputs, ...outputs].map(({ shape }) => typeof shape[0])).not.toContain("number");
    expect([...heldOut.inputs.keys()]).toEqual(card.inputs.map((input) => input.name));
  });

  it("says in card.md what stands in card.json", () => {
    const text = readFileSync(new URL("card.md", folder), "utf8");
    if (name !== "lenet5") expect(text).toBe(writeCard(card));
    expect(text).toContain(card.parameters.toLocaleString("en"));
  });

  it("is as good as its card says, and better than who does not look", async () => {
    const { value, interval, baseline } = card.evaluation;
    const output = await answerHeldOut(file, heldOut);
    const found = measure(card, heldOut, output);
    // A sample or two may change sides with another processor's rounding.
    expect(Math.abs(found - value)).toBeLessThanOrEqual(0.1 * (interval.high - interval.low));
    expect(measure(card, heldOut, heldOut.baseline)).toBeCloseTo(baseline.value, 6);
    const [worst, best] = orient(card.metric, interval);
    expect(isWorse(card.metric, found, worst)).toBe(false);
    expect(isWorse(card.metric, best, found)).toBe(false);
    const [, bestOfBaseline] = orient(card.metric, baseline.interval);
    expect(isWorse(card.metric, bestOfBaseline, worst)).toBe(true);
  });

  // A random network may still beat the baseline: a ROC curve benefits from the distances between inputs that it
  // preserves. It must be outside the card's interval, and most of the gain over the baseline must come from training.
  it("fails with random weights", async () => {
    const { value, interval, baseline } = card.evaluation;
    const random = measure(card, heldOut, await answerHeldOut(drawWeights(file, 1), heldOut));
    const [worst] = orient(card.metric, interval);
    expect(isWorse(card.metric, random, worst)).toBe(true);
    expect((random - baseline.value) / (value - baseline.value)).toBeLessThan(0.5);
  });
});

describe("the zoo", () => {
  it("has ten networks of each of three kinds, all of other names", () => {
    expect(new Set(ZOO.map(({ name }) => name)).size).toBe(30);
    for (const category of ["vision", "audio", "sensor"])
      expect(ZOO.filter((model) => model.category === category)).toHaveLength(10);
  });

  it("is small", () => {
    const sizes = new Map(listFiles(new URL(".", import.meta.url)));
    const add = (names: string[]) => names.reduce((sum, each) => sum + sizes.get(each)!, 0);
    expect(add([...sizes.keys()].filter((each) => each.endsWith(".onnx")))).toBeLessThan(MOST_ONNX_BYTES);
    expect(add([...sizes.keys()])).toBeLessThan(MOST_BYTES);
  });
});

function measure(card: ZooCard, { target, inputs }: HeldOut, output: HeldOut["target"]): number {
  return measureTask(card.metric, output, target, [...inputs.values()][0]!);
}

/** Bounds from the worse to the better. */
function orient(metric: ZooCard["metric"], { low, high }: { low: number; high: number }): [number, number] {
  return isHigherBetter(metric) ? [low, high] : [high, low];
}

function isWorse(metric: ZooCard["metric"], one: number, other: number): boolean {
  return isHigherBetter(metric) ? one < other : one > other;
}

function describeBytes(bytes: Uint8Array) {
  return { sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function listFiles(folder: URL): [path: string, sizeBytes: number][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .map((path) => [path, statSync(path).size]);
}
