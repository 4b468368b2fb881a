import { describe, expect, it } from "vitest";
import { factorise } from "../../../../src/gpu-runner/compression/factorise.ts";
import type { OnnxModel } from "../../../../src/onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { answerNetwork } from "./answer-network.ts";
import { drawValues, oddNetwork, separableNetwork, signalNetwork } from "./small-networks.ts";

/** Rows of the first times columns of the second, both row by row. */
function multiply(one: Float32Array, other: Float32Array, inner: number): number[] {
  const [rows, columns] = [one.length / inner, other.length / inner];
  return Array.from({ length: rows * columns }, (_, place) => {
    const [row, column] = [Math.floor(place / columns), place % columns];
    let sum = 0;
    for (let at = 0; at < inner; at++) sum += one[row * inner + at]! * other[at * columns + column]!;
    return sum;
  });
}

function distance(values: readonly number[], other: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value, at) => sum + (value - other[at]!) ** 2, 0));
}

function weights(model: OnnxModel, name: string): Float32Array {
  return floatsOf(model.weights.get(name)!);
}

describe("factorise", () => {
  it("is off by what it says, for filters and matrices", () => {
    const model = signalNetwork();
    const { model: made, report } = factorise(model, { rank: 2 });
    // v5 is the matrix of 7 × 33, which a MatMul multiplies from the left.
    const matrix = report.done.find(({ layer }) => layer === "v5_0")!;
    const product = multiply(weights(made, "w6_inner"), weights(made, "w6_outer"), 2);
    expect(matrix).toMatchObject({ rank: 2, fullRank: 7 });
    expect(distance(product, weights(model, "w6"))).toBeCloseTo(matrix.frobeniusError, 5);
    const filters = factorise(separableNetwork(), { rank: 2 });
    const first = filters.report.done.find(({ layer }) => layer === "v1_0")!;
    const folded = weights(factorise(separableNetwork(), { rank: 99 }).model, "w2_folded");
    const stem = multiply(weights(filters.model, "w2_folded_outer"), weights(filters.model, "w2_folded_inner"), 2);
    expect(distance(stem, folded)).toBeCloseTo(first.frobeniusError, 5);
  });

  it("takes the smallest rank that keeps so much energy", () => {
    const { done } = factorise(signalNetwork(), { energy: 0.5 }).report;
    expect(done.length).toBeGreaterThan(1);
    for (const { rank, layer, energy } of done) {
      expect(energy).toBeGreaterThanOrEqual(0.5);
      const fewer = factorise(signalNetwork(), { rank: rank - 1 || 1 }).report.done.find(
        (each) => each.layer === layer,
      );
      if (rank > 1) expect(fewer!.energy).toBeLessThan(0.5);
    }
  });

  it("leaves a layer whose factors would have more weights, and those in groups", () => {
    const { report } = factorise(separableNetwork(), { rank: 4 });
    // 8 × 8 is worth it below rank 4, 8 × 27 below 6.2 and 5 × 16 below 3.8.
    expect(report.done.map(({ layer }) => layer)).toEqual(["v1_0"]);
    expect(report.left.map(({ why }) => why).toSorted()).toEqual([
      "its channels are in groups",
      "rank 4 would take more weights: it is worth it below 3.8",
      "rank 4 would take more weights: it is worth it below 4.0",
    ]);
  });
});

describe("a layer whose weights are of low rank", () => {
  const outer = (one: Float32Array, other: Float32Array): Float32Array<ArrayBuffer> =>
    Float32Array.from({ length: one.length * other.length }, (_, at) => {
      return one[Math.floor(at / other.length)]! * other[at % other.length]!;
    });

  it.for([
    ["outputs × inputs", 1],
    ["inputs × outputs", 0],
  ] as const)("is answered alike by its factors: %s", async ([, transB]) => {
    const given = oddNetwork();
    const dims = transB === 1 ? [5, 7] : [7, 5];
    const matrix = floatTensor("matrix", dims, outer(drawValues(dims[0]!, 1), drawValues(dims[1]!, 2)));
    const [node] = given.nodes;
    const attributes = new Map(node!.attributes)
      .set("transB", { kind: "int", value: transB })
      .set("alpha", { kind: "float", value: 1.5 });
    const model = {
      ...given,
      weights: new Map(given.weights).set("matrix", matrix),
      nodes: [{ ...node!, attributes }],
    };
    const { model: made, report } = factorise(model, { energy: 0.999_999 });
    expect(report.done).toMatchObject([{ rank: 1 }]);
    expect(report.done[0]!.frobeniusError).toBeLessThan(1e-6);
    const x = new Map([["x", { dims: [3, 7], data: [...drawValues(21, 3)] }]]);
    const output = model.outputs[0]!.name;
    const [before, after] = [await answerNetwork(model, x), await answerNetwork(made, x)];
    for (const [at, value] of after.get(output)!.data.entries())
      expect(value).toBeCloseTo(before.get(output)!.data[at]!, 5);
  });

  it("is left where its decomposition would take too long", () => {
    const given = oddNetwork();
    const matrix = floatTensor("matrix", [900, 900], new Float32Array(810_000));
    const { report } = factorise({ ...given, weights: new Map(given.weights).set("matrix", matrix) }, { rank: 1 });
    expect(report.left).toMatchObject([{ why: "it is too large to be decomposed here" }]);
  });
});
