import type { Recipe } from "../../protocol/recipe.ts";
import { sfc32 } from "../../stats/sfc32.ts";

/** Rows of a version's data, each in one part. */
export interface SplitRows {
  /** That the variant is made by; none where a recipe needs none. */
  readonly seen: readonly number[];
  /** That the variant is measured on. */
  readonly measured: readonly number[];
}

const SEED = 8;

/** Rows that a recipe wants to see are drawn by a fixed seed, at most half of all; it is measured on the others. */
export function splitRows(rows: number, recipe: Recipe): SplitRows {
  const wanted = Math.min(countSeen(recipe), Math.floor(rows / 2));
  const draw = sfc32(SEED);
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let place = 0; place < wanted; place++) {
    const other = place + draw(rows - place);
    [order[place], order[other]] = [order[other]!, order[place]!];
  }
  const ascending = (some: number[]) => some.toSorted((a, b) => a - b);
  return { seen: ascending(order.slice(0, wanted)), measured: ascending(order.slice(wanted)) };
}

/** Rows that a recipe wants to see: to find ranges on, or to teach a student with. */
export function countSeen(recipe: Recipe): number {
  if (recipe.method === "distilled") return recipe.lessonRows;
  return recipe.method === "int8" && recipe.activations === "static" ? recipe.calibrationRows : 0;
}
