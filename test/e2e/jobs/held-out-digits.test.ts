import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadDigits } from "../../../models/lenet5/digits.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { type LocalStack, placeModel, startLocalStack } from "../local-stack.ts";

const BATCH = 50;

let stack: LocalStack;
beforeAll(async () => {
  stack = await startLocalStack();
  await placeModel(stack, "lenet5");
});
afterAll(() => stack.stop());

async function recognise(pixels: readonly Float32Array[]): Promise<number[]> {
  const data = pixels.flatMap((image) => [...image]);
  const image = { shape: [pixels.length, 1, 28, 28], data };
  const { outputs } = await stack.client.call(endpoints.infer, {
    body: { model: "lenet5@1", budgetMs: 60_000, inputs: { image } },
  });
  const logits = (outputs.logits?.data ?? []) as number[];
  return pixels.map((_, i) => {
    const scores = logits.slice(i * 10, (i + 1) * 10);
    return scores.indexOf(Math.max(...scores));
  });
}

it("reads at least 97 % of the digits that the training never saw, through the API", async () => {
  const digits = loadDigits("heldOut");
  expect(digits.length).toBeGreaterThan(1_900);
  let right = 0;
  for (let first = 0; first < digits.length; first += BATCH) {
    const batch = digits.slice(first, first + BATCH);
    const labels = await recognise(batch.map(({ pixels }) => pixels));
    right += labels.filter((label, i) => label === batch[i]?.label).length;
  }
  expect(right / digits.length).toBeGreaterThanOrEqual(0.97);
});

it("knows no more than chance of images that are all the same", async () => {
  const labels = await recognise(Array.from({ length: 20 }, () => new Float32Array(784)));
  expect(new Set(labels).size).toBe(1);
});

it("has the model in memory and, not to be evicted, on the disk; and the runner tells so", async () => {
  const memory = await stack.client.call(endpoints.getRunnerMemory, { params: { id: stack.runnerId } });
  const tier = (name: string) => memory.tiers.find((each) => each.tier === name);
  expect(tier("host")).toMatchObject({ items: 1, misses: 1 });
  expect(tier("disk")).toMatchObject({ items: 1, pinnedItems: 1 });
  const [file = ""] = await readdir(join(stack.dataDir, "runner/artifacts"));
  const { size } = await stat(join(stack.dataDir, "runner/artifacts", file));
  expect(tier("disk")?.usedBytes).toBe(size);
  expect(tier("edge")).toMatchObject({ hits: 1, failures: 0 });
  expect(tier("gpu")).toMatchObject({ deviceKey: "gpu0", items: 0 });
  expect(memory.pools[0]?.counters).toMatchObject({ refused: 0 });
  expect(memory.migrations.map(({ from, to }) => `${from} ${to}`).toSorted()).toEqual(["edge host", "host disk"]);
});
