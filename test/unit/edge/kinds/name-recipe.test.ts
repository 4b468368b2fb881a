import { expect, it } from "vitest";
import { nameRecipe } from "../../../../src/edge/kinds/compression.ts";
import { Name } from "../../../../src/protocol/wire/page.ts";
import { Recipe } from "../../../../src/protocol/models/variant.ts";

it.each([
  [{ method: "fp16" }, "fp16"],
  [{ method: "int8" }, "int8"],
  [{ method: "int8", activations: "static" }, "int8-static"],
  [{ method: "int8", activations: "dynamic" }, "int8-dynamic"],
  [{ method: "int4" }, "int4-g32"],
  [{ method: "int4", blockSize: 128 }, "int4-g128"],
  [{ method: "low-rank", energy: 0.9 }, "low-rank-90"],
  [{ method: "low-rank", energy: 0.07 }, "low-rank-7"],
  [{ method: "low-rank", rank: 16 }, "low-rank-r16"],
  [{ method: "low-rank", minFidelity: 0.995 }, "low-rank-f99.5"],
  [{ method: "pruned", sparsity: 0.5 }, "pruned-50"],
  [{ method: "pruned", channels: 0.25 }, "pruned-c25"],
  [{ method: "distilled", student: [{ kind: "dense", units: 8 }] }, "distilled"],
])("a variant by %o is called %s", (recipe, name) => {
  expect(nameRecipe(Recipe.parse(recipe))).toBe(name);
  expect(Name.parse(name)).toBe(name);
});
