import type { TensorSpec } from "../../protocol/models/model.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { countElements, tensorFromJson, type TensorResult } from "../../protocol/wire/tensor.ts";

/** Most numbers that are written into a text field; larger tensors show only their count. */
export const WRITTEN_NUMBERS = 4_096;

/** Numbers of one row: of a shape with 1 in every free dimension. */
export function countRow(shape: readonly number[]): number {
  return countElements(shape.map((size) => (size === -1 ? 1 : size)));
}

/** A declared shape for so many numbers: the first free dimension takes what is left for it, the others 1. */
export function settleShape(shape: readonly number[], numbers: number): number[] {
  const free = shape.indexOf(-1);
  const rows = Math.floor(numbers / Math.max(1, countRow(shape)));
  return shape.map((size, place) => (size !== -1 ? size : place === free ? rows : 1));
}

/** The tensor that a text holds: JSON, or numbers with commas or spaces between them. */
export function readNumbers({ name, dtype, shape }: TensorSpec, text: string): TensorResult {
  const trimmed = text.trim();
  const data = trimmed.startsWith("[") ? parseJson(trimmed) : splitNumbers(trimmed);
  if (!Array.isArray(data)) return { ok: false, message: "this is neither JSON nor a list of numbers" };
  const flat: unknown[] = data.flat(Number.POSITIVE_INFINITY);
  return toTensor({ name, dtype, shape }, flat);
}

/** The tensor of these elements; what is wrong with them otherwise. */
export function toTensor({ name, dtype, shape }: TensorSpec, elements: readonly unknown[]): TensorResult {
  const row = countRow(shape);
  const isWhole = shape.includes(-1) ? elements.length > 0 && elements.length % row === 0 : elements.length === row;
  if (!isWhole) {
    const wanted = shape.includes(-1) ? `${row} numbers a row are wanted` : `${row} numbers are wanted`;
    return { ok: false, message: `${wanted}, these are ${elements.length}` };
  }
  return tensorFromJson(name, { dtype, shape: settleShape(shape, elements.length), data: [...elements] });
}

function splitNumbers(text: string): unknown[] {
  return text === ""
    ? []
    : text
        .split(/[\s,;]+/)
        .filter((part) => part !== "")
        .map(Number);
}

/** One row to begin with: nothing, or numbers from −1 to 1; whole and not negative ones where the type has no others. */
export function fillRow({ dtype, shape }: TensorSpec, fill: "zeros" | "random"): (number | string)[] {
  const draw = () => {
    if (dtype === "string") return "";
    if (fill === "zeros") return 0;
    if (dtype.startsWith("float")) return Number((2 * Math.random() - 1).toFixed(3));
    return Math.floor(Math.random() * (dtype === "bool" ? 2 : 100));
  };
  return Array.from({ length: countRow(shape) }, draw);
}
