import type { OnnxNode } from "./onnx-model.ts";
import { intsOf, textOf } from "./read-option.ts";

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
