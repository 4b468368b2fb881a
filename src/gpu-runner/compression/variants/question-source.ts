import type { HeldOut, HeldOutTensor } from "../../../protocol/models/held-out-file.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import type { Recipe } from "../../../protocol/models/variant.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { sfc32 } from "../../../stats/random/seeded.ts";

/** Questions to a network, one at a time. */
export interface QuestionSource {
  /** Rows of all questions together. */
  readonly rows: number;
  /** Description of their distribution, for people. */
  readonly distribution: string;
  readonly questions: () => Iterable<Tensor[]>;
}

/** Rows per question, where a network supports so many. */
const BATCH_ROWS = 32;

/** Seeded inputs of one row each, from this seed on, for use without data. */
export function seededQuestions(specs: readonly TensorSpec[], firstSeed: number, rows: number): QuestionSource {
  return {
    rows,
    distribution: `floats uniform in [0, 1), whole numbers 0 or 1; seeds ${firstSeed} to ${firstSeed + rows - 1}`,
    *questions() {
      for (let row = 0; row < rows; row++) yield createSeededInputs(specs, firstSeed + row);
    },
  };
}

/** Questions from these rows of the version's data; a network without a free first dimension is asked row by row. */
export function heldOutQuestions(
  { inputs }: Pick<HeldOut, "inputs">,
  specs: readonly TensorSpec[],
  rows: readonly number[],
): QuestionSource {
  const batch = specs.every(({ shape }) => shape[0] === -1) ? BATCH_ROWS : 1;
  return {
    rows: rows.length,
    distribution: "the version's data",
    *questions() {
      for (let first = 0; first < rows.length; first += batch) {
        const asked = rows.slice(first, first + batch);
        yield specs.map(({ name }) => toTensor(name, takeRows(inputs.get(name)!, asked)));
      }
    },
  };
}

/** Some of a tensor's rows, in this order. */
export function takeRows({ shape, values }: HeldOutTensor, rows: readonly number[]): HeldOutTensor {
  const [, ...rest] = shape;
  const width = rest.reduce((product, size) => product * size, 1);
  const taken = new Float32Array(rows.length * width);
  for (const [place, row] of rows.entries()) taken.set(values.subarray(row * width, (row + 1) * width), place * width);
  return { shape: [rows.length, ...rest], values: taken };
}

function toTensor(name: string, { shape, values }: HeldOutTensor): Tensor {
  return { name, dtype: "float32", shape: [...shape], bytes: new Uint8Array(values.buffer) };
}

/** Rows of a version's data, each in one of two parts. */
export interface SplitRows {
  /** Rows for making the variant; none where a recipe needs none. */
  readonly seen: readonly number[];
  /** Rows for measuring the variant. */
  readonly measured: readonly number[];
}

const SEED = 8;

/** Draws the rows for a recipe by a fixed seed, at most half of all; the variant is measured on the others. */
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

/** Number of rows that a recipe needs, for ranges or for teaching a student. */
export function countSeen(recipe: Recipe): number {
  if (recipe.method === "distilled") return recipe.lessonRows;
  return recipe.method === "int8" && recipe.activations === "static" ? recipe.calibrationRows : 0;
}
