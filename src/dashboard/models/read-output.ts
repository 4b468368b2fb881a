import { type Tensor, tensorToJson } from "../../protocol/wire/tensor.ts";
import { type PictureForm, readPictureForm } from "./input-picture.ts";

/** Most classes that are drawn, and most numbers that are listed otherwise. */
const CLASSES_SHOWN = 10;
const MOST_CLASSES = 10_000;
const VALUES_SHOWN = 64;

/** One number with its place in its tensor, such as `3` or `2, 5`. */
export interface PlacedValue {
  readonly place: string;
  readonly value: number | string | boolean;
}

/** An output as it is shown: the highest of a vector's classes, a picture, or a list of its first values. */
export type ShownOutput =
  | { readonly kind: "classes"; readonly classes: readonly { readonly index: number; readonly value: number }[] }
  | { readonly kind: "picture"; readonly form: PictureForm; readonly numbers: readonly number[] }
  | { readonly kind: "values"; readonly values: readonly PlacedValue[]; readonly left: number };

/** Decides by shape and type how an output is shown. */
export function readOutput(tensor: Tensor): ShownOutput {
  const { shape, dtype } = tensor;
  const data: readonly (number | string | boolean)[] = tensorToJson(tensor).data;
  const form = readPictureForm(shape);
  if (form !== null && isNumbers(data)) return { kind: "picture", form, numbers: data };
  const isVector = shape.slice(0, -1).every((size) => size === 1);
  if (isVector && dtype.startsWith("float") && data.length > 1 && data.length <= MOST_CLASSES && isNumbers(data)) {
    const ranked = data.map((value, index) => ({ index, value })).toSorted((a, b) => b.value - a.value);
    return { kind: "classes", classes: ranked.slice(0, CLASSES_SHOWN) };
  }
  const values = data.slice(0, VALUES_SHOWN).map((value, index) => ({ place: placeOf(index, shape), value }));
  return { kind: "values", values, left: data.length - values.length };
}

function isNumbers(data: readonly unknown[]): data is readonly number[] {
  return data.every((value) => typeof value === "number");
}

/** The place of an element by the sizes that are more than one. */
function placeOf(index: number, shape: readonly number[]): string {
  let left = index;
  const places: number[] = [];
  for (const size of shape.toReversed()) {
    if (size > 1) places.unshift(left % size);
    left = Math.floor(left / Math.max(1, size));
  }
  return places.length === 0 ? "–" : places.join(", ");
}
