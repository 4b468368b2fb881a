import { intsOf, type OnnxNode, textOf } from "./onnx-model.ts";

/** The shape that two have together, sizes of one being repeated; undefined where they do not fit. */
export function broadcast(one: readonly number[], other: readonly number[]): number[] | undefined {
  const rank = Math.max(one.length, other.length);
  const sizes = Array.from({ length: rank }, (_, axis) => {
    const [a, b] = [one[axis - rank + one.length] ?? 1, other[axis - rank + other.length] ?? 1];
    return a === b || b === 1 ? a : a === 1 ? b : Number.NaN;
  });
  return sizes.some(Number.isNaN) ? undefined : sizes;
}

/** Start and length of a slice of an axis. */
export function sliceOf(size: number, start: number, end: number, step: number): { start: number; length: number } {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (place: number) => Math.min(high, Math.max(low, place < 0 ? place + size : place));
  const [from, to] = [clamp(start), clamp(end)];
  return { start: from, length: Math.max(0, Math.ceil((to - from) / step)) };
}

/** A window that slides over an axis, as convolutions and pools have it. */
export interface Window {
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
}

/** The windows of a node along its spatial axes; `kernel` where the node itself does not say it. */
export function windowsOf(
  node: OnnxNode,
  sizes: readonly number[],
  kernel: readonly number[] = intsOf(node, "kernel_shape") ?? [],
): Window[] {
  const strides = intsOf(node, "strides");
  const dilations = intsOf(node, "dilations");
  const pads = intsOf(node, "pads");
  const mode = textOf(node, "auto_pad", "NOTSET");
  return kernel.map((length, axis) => {
    const [stride, dilation] = [strides?.[axis] ?? 1, dilations?.[axis] ?? 1];
    const window = { kernel: length, stride, dilation };
    if (mode === "VALID") return { ...window, before: 0, after: 0 };
    if (mode === "NOTSET") return { ...window, before: pads?.[axis] ?? 0, after: pads?.[axis + kernel.length] ?? 0 };
    const out = Math.ceil(sizes[axis]! / stride);
    const pad = Math.max(0, (out - 1) * stride + (length - 1) * dilation + 1 - sizes[axis]!);
    const less = Math.floor(pad / 2);
    return mode === "SAME_UPPER"
      ? { ...window, before: less, after: pad - less }
      : { ...window, before: pad - less, after: less };
  });
}

/** Places of a window along an axis of so many elements. */
export function countPlaces(size: number, { kernel, stride, dilation, before, after }: Window, ceil = false): number {
  const free = size + before + after - ((kernel - 1) * dilation + 1);
  if (!ceil) return Math.floor(free / stride) + 1;
  const places = Math.ceil(free / stride) + 1;
  // A place that would begin behind the padded input is none.
  return (places - 1) * stride >= size + before ? places - 1 : places;
}

export type Shape = readonly number[];

/** The network's facts beside the input shapes of a node. */
export interface ShapeContext {
  readonly node: OnnxNode;
  /** Version of ONNX's own operators. */
  readonly opset: number;
  readonly inputs: readonly (Shape | undefined)[];
  /** The few numbers of an input that are known without computing on data, such as those of a shape. */
  readonly numbers: (input: number) => readonly number[] | undefined;
}

/** Shapes of the outputs; undefined where it cannot be said. */
export type ShapeRule = (context: ShapeContext) => Shape[] | undefined;

/** An axis counted from the first; negative ones are counted from behind. */
export function along(axis: number, shape: Shape): number {
  return axis < 0 ? axis + shape.length : axis;
}

/** Letters of an ellipsis' axes; the last ones name the last axes, so that ellipses of different lengths fit. */
const ELLIPSIS = "0123456789";

/**
 * Axes of an Einsum's operands and output by letters, from the operands' ranks; an ellipsis becomes digits, and an output
 * that the equation leaves out has the letters that stand once, by the alphabet. Undefined where the ranks do not fit.
 */
export function readEinsum(
  node: OnnxNode,
  ranks: readonly number[],
): { readonly terms: readonly string[]; readonly output: string } | undefined {
  const [left, right] = textOf(node, "equation", "").replaceAll(" ", "").split("->");
  let longest = 0;
  const terms = left!.split(",").map((term, index) => {
    const rest = ranks[index]! - term.replace("...", "").length;
    if (!term.includes("...")) return term;
    longest = Math.max(longest, rest);
    return term.replace("...", rest > 0 ? ELLIPSIS.slice(-rest) : "");
  });
  if (terms.length !== ranks.length || terms.some(({ length }, index) => length !== ranks[index])) return undefined;
  const ellipsis = longest > 0 ? ELLIPSIS.slice(-longest) : "";
  const letters = terms.join("");
  const single = [...new Set(letters)].filter(
    (letter) => letters.split(letter).length === 2 && !ellipsis.includes(letter),
  );
  return { terms, output: right?.replace("...", ellipsis) ?? ellipsis + single.toSorted().join("") };
}
