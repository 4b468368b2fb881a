import type { Recipe } from "../../protocol/recipe.ts";

/** What a variant is called after its recipe: letters, digits, `.` and `-`. */
export function nameRecipe(recipe: Recipe): string {
  switch (recipe.method) {
    case "fp16":
      return "fp16";
    case "int8":
      return recipe.activations === "static" ? "int8-static" : "int8";
    case "int4":
      return `int4-g${recipe.blockSize}`;
    case "low-rank":
      if (recipe.rank !== undefined) return `low-rank-r${recipe.rank}`;
      if (recipe.energy !== undefined) return `low-rank-${percent(recipe.energy)}`;
      return `low-rank-f${percent(recipe.minFidelity!)}`;
    case "pruned":
      if (recipe.channels !== undefined) return `pruned-c${percent(recipe.channels)}`;
      return `pruned-${percent(recipe.sparsity!)}`;
    case "distilled":
      return "distilled";
  }
}

/** Of 0.995, `99.5`: as many digits as it takes, up to ten. */
function percent(share: number): string {
  return String(Number((100 * share).toFixed(10)));
}
