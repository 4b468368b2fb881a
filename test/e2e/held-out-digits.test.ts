import { afterAll, beforeAll, expect, it } from "vitest";
import { loadDigits } from "../../models/lenet5/digits.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type LocalStack, placeModel, startLocalStack } from "./local-stack.ts";

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
    body: { model: "lenet5@1", budgetMs: 20_000, inputs: { image } },
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
