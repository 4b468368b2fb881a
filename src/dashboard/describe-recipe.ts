import type { Recipe } from "../protocol/recipe.ts";
import { formatNumber, formatShare } from "./format.ts";

/** A recipe in words: what it does to the version's own file. */
export function describeRecipe(recipe: Recipe): string {
  switch (recipe.method) {
    case "fp16":
      return "weights as floats of 16 bits";
    case "int8":
      return recipe.activations === "static"
        ? `weights and activations of 8 bits, in ranges of at most ${formatNumber(recipe.calibrationRows)} rows`
        : "weights of 8 bits";
    case "int4":
      return `weights of 4 bits in groups of ${recipe.blockSize}`;
    case "low-rank":
      if (recipe.rank !== undefined) return `layers of rank ${recipe.rank}`;
      if (recipe.energy !== undefined) return `layers that keep ${formatShare(recipe.energy)} of their energy`;
      return `layers of the least energy for a fidelity of ${formatShare(recipe.minFidelity!)}`;
    case "pruned":
      if (recipe.channels !== undefined) return `without the smallest ${formatShare(recipe.channels)} of channels`;
      return `the smallest ${formatShare(recipe.sparsity!)} of weights are zero`;
    case "distilled":
      return `a student of ${recipe.student.length} ${recipe.student.length === 1 ? "layer" : "layers"}, taught for ${recipe.epochs} epochs`;
  }
}
