import { ProblemError } from "../../../protocol/problem.ts";
import { sfc32 } from "../../../stats/sfc32.ts";
import { ConvLayer } from "./conv-layer.ts";
import { DenseLayer } from "./dense-layer.ts";
import { PoolLayer } from "./pool-layer.ts";
import { ReluLayer } from "./relu-layer.ts";
import { type Extent, sizeOf, type StudentLayer } from "./student-layer.ts";

/** One layer of a student; a ReLU follows each but a pool. A kernel is square, or a row where the inputs are signals. */
export type RecipeLayer =
  | { readonly kind: "conv"; readonly filters: number; readonly kernel: number; readonly stride: number }
  | { readonly kind: "pool"; readonly size: number }
  | { readonly kind: "dense"; readonly units: number };

/** The layers of a recipe with weights drawn by a seed, and at their end a dense one for the classes. */
export function buildStudent(input: Extent, recipe: readonly RecipeLayer[], classes: number, seed: number) {
  const draw = sfc32(seed);
  const uniform = () => draw(2 ** 31) / 2 ** 31;
  const layers: (ConvLayer | DenseLayer | PoolLayer | ReluLayer)[] = [];
  let extent = input;
  for (const [index, step] of recipe.entries()) {
    const layer = buildLayer(step, extent, uniform);
    extent = layer.output;
    if (sizeOf(extent) === 0)
      throw new ProblemError("invalid-request", "A pool is larger than what it pools.", at(index));
    layers.push(layer);
    if (step.kind !== "pool") layers.push(new ReluLayer(extent));
  }
  layers.push(new DenseLayer(extent, classes, uniform));
  return layers;
}

function buildLayer(step: RecipeLayer, input: Extent, draw: () => number): ConvLayer | DenseLayer | PoolLayer {
  if (step.kind === "conv") return new ConvLayer(input, step.filters, step.kernel, step.stride, draw);
  if (step.kind === "pool") return new PoolLayer(input, step.size);
  return new DenseLayer(input, step.units, draw);
}

function at(index: number) {
  return { errors: [{ pointer: `#/recipe/${index}`, message: "nothing would be left behind it" }] };
}

/** Answers of all layers, one after the other. */
export function runStudent(layers: readonly StudentLayer[], input: Float64Array, rows: number): Float64Array {
  return layers.reduce((values, layer) => layer.forward(values, rows), input);
}
