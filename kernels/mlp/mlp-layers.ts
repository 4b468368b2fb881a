import type { KernelShape } from "../kernel-spec.ts";

/** Sizes of the network, without the batch. */
export type MlpNetworkSize = "inputs" | "hidden" | "outputs" | "layers" | "activation";
export type MlpSize = "batch" | MlpNetworkSize;

/** WGSL of `activate`, for a `Value` that the variant's own file names. */
export const ACTIVATE = new URL("activate.wgsl", import.meta.url);

/** WGSL of a group of lanes that takes a sample through a network. */
export const SAMPLE_PER_GROUP = new URL("sample-per-group.wgsl", import.meta.url);

/** Places of a dense layer's parameters: weights[⌈inner⌉₄][pitch], then bias[pitch]; padding is zero. */
export interface MlpLayer {
  readonly inner: number;
  readonly outer: number;
  /** `outer` rounded up to whole vectors. */
  readonly pitch: number;
  /** Index of the first weight, of the first bias, and behind the last one. */
  readonly weights: number;
  readonly bias: number;
  readonly end: number;
}

const roundUp = (width: number) => Math.ceil(width / 4) * 4;

/** Widths of the network, input first: layers + 1 numbers. */
export function mlpWidths({ inputs, hidden, outputs, layers }: KernelShape<MlpNetworkSize>): number[] {
  return [inputs, ...Array<number>(layers - 1).fill(hidden), outputs];
}

/** The layers one after another, as the kernel reads them. */
export function layOutLayers(shape: KernelShape<MlpNetworkSize>): MlpLayer[] {
  const widths = mlpWidths(shape);
  let end = 0;
  return widths.slice(1).map((outer, index) => {
    const inner = widths[index]!;
    const pitch = roundUp(outer);
    const weights = end;
    const bias = weights + roundUp(inner) * pitch;
    end = bias + pitch;
    return { inner, outer, pitch, weights, bias, end };
  });
}

/** Width of the widest layer, in whole vectors. */
export function widestLayer(shape: KernelShape<MlpNetworkSize>): number {
  return roundUp(Math.max(...mlpWidths(shape)));
}

/** Weights and biases of all layers, without padding. */
export function countWeights(shape: KernelShape<MlpNetworkSize>): number {
  return layOutLayers(shape).reduce((total, { inner, outer }) => total + (inner + 1) * outer, 0);
}
