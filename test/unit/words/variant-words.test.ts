import { expect, it } from "vitest";
import { describeFidelity, describeRecipe } from "../../../src/words/models.ts";
import { Recipe } from "../../../src/protocol/models/variant.ts";

it.each([
  [{ method: "fp16" }, "weights as floats of 16 bits"],
  [{ method: "int8" }, "weights of 8 bits"],
  [{ method: "int8", activations: "static" }, "weights and activations of 8 bits, in ranges of at most 128 rows"],
  [{ method: "int8", activations: "dynamic" }, "weights of 8 bits, and activations of matrix products by row"],
  [{ method: "int4" }, "weights of 4 bits in groups of 32"],
  [{ method: "low-rank", rank: 4 }, "layers of rank 4"],
  [{ method: "low-rank", energy: 0.9 }, "layers that keep 90% of their energy"],
  [{ method: "low-rank", minFidelity: 0.99 }, "layers of the least energy for a fidelity of 99%"],
  [{ method: "pruned", sparsity: 0.5 }, "the smallest 50% of weights are zero"],
  [{ method: "pruned", channels: 0.25 }, "without the smallest 25% of channels"],
  [{ method: "distilled", student: [{ kind: "dense", units: 8 }] }, "a student of 1 layer, taught for 30 epochs"],
])("a recipe %o is described", (recipe, words) => {
  expect(describeRecipe(Recipe.parse(recipe)).replaceAll(/\s%/g, "%")).toBe(words);
});

it("a fidelity is shown with its basis: a job's data or inputs, an uploader's word, calibrations", () => {
  const of = (changes: object, placements: { variant: string; fidelity: number | null }[] = []) =>
    describeFidelity({ name: "int8", fidelity: null, measured: null, ...changes }, placements).basis;
  const difference = { value: -0.02, low: -0.04, high: 0 };
  const metric = {
    basis: "metric",
    value: 0.98,
    metric: "accuracy",
    rows: 300,
    parent: 0.97,
    variant: 0.95,
    difference,
  };
  const agreement = { basis: "agreement", value: 1, inputs: 128, distribution: "", sameTop: 1, relativeError: 0.02 };
  expect(of({ measured: metric, fidelity: 0.98 })).toBe("accuracy 0.95 beside 0.97, on 300 rows of its data");
  expect(of({ measured: agreement })).toBe("agreement with fp32 on 128 random inputs, relative error 0.02");
  expect(of({ fidelity: 0.9 })).toBe("as its uploader says");
  expect(of({}, [{ variant: "int8", fidelity: 0.9 }])).toBe("the least that calibrations found");
  expect(of({}, [{ variant: "fp16", fidelity: 0.9 }])).toBe("not measured yet");
  expect(of({ name: "fp32", fidelity: 1 })).toBe("what others are held against");
});
