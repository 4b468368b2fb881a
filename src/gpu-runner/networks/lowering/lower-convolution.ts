import { countElements, intOf, intsOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { type Window, windowsOf } from "../../../onnx/shape-rule.ts";
import { isHeavy } from "../tile-operators.ts";
import type { OpNumbers } from "./network-op.ts";
import type { Lowering, PlannedOp } from "./lowering.ts";
import { emitWalk } from "./lower-movement.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";
import type { WeightMatrix } from "./weight-pool.ts";

/** `Conv` over one or two axes: by groups, or filter by filter where each sees one channel. */
export function lowerConvolution(lowering: Lowering, node: OnnxNode): void {
  const weights = lowering.constantOf(node, 1);
  const groups = intOf(node, "group", 1);
  const [filters, channels] = [weights.shape[0]! / groups, weights.shape[1]!];
  const taps = countElements(weights.shape.slice(2));
  const at = (filter: number, input: number) => filter * channels * taps + input;
  emitConvolution(lowering, node, weights, { groups, filters, channels, taps, at });
}

/** `ConvTranspose`: every output pixel gathers the input pixels that reach it. */
export function lowerTransposed(lowering: Lowering, node: OnnxNode): void {
  const weights = lowering.constantOf(node, 1);
  const groups = intOf(node, "group", 1);
  const [channels, filters] = [weights.shape[0]! / groups, weights.shape[1]!];
  const taps = countElements(weights.shape.slice(2));
  const isOne = weights.shape.length <= 4 && lowering.activationOf(node, 0).shape[0] === 1;
  const phases = isOne ? findPhases(lowering, node, weights) : null;
  // A single channel gains nothing. Weights of few bits share scales along taps, which phases would separate.
  if (phases !== null && groups === 1 && channels > 1 && weights.grain === undefined) {
    emitPhases(lowering, node, weights, phases);
    return;
  }
  const at = (filter: number, input: number) => {
    const channel = Math.floor(filter / filters) * channels + Math.floor(input / taps);
    return (channel * filters + (filter % filters)) * taps + (input % taps);
  };
  emitConvolution(lowering, node, weights, { groups, filters, channels, taps, at, which: 1 });
}

/** Window along a missing axis: a series is an image of height 1. */
export const STILL: Window = { kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 };

/** An axis of a transposed convolution whose output is `stride` times as long as its input. */
interface PhasedAxis {
  readonly size: number;
  readonly stride: number;
  readonly kernel: number;
  readonly before: number;
  /** Window over the input that covers the inputs of a pixel in any phase. */
  readonly window: Window;
}

/** Axes of the phases; null where the output has another length. */
function findPhases(lowering: Lowering, node: OnnxNode, weights: Constant): PhasedAxis[] | null {
  const sizes = lowering.activationOf(node, 0).shape.slice(2);
  const out = lowering.shapeOf(node).shape.slice(2);
  const windows = windowsInto(node, sizes, weights.shape.slice(2), out);
  const axes = windows.map(({ kernel, stride, dilation, before }, axis) => {
    const most = Math.floor((kernel - 1 - before) / stride);
    const least = Math.ceil(-(stride - 1 + before) / stride);
    const isPhased = dilation === 1 && out[axis] === stride * sizes[axis]! && most >= 0 && least <= 0;
    const window = { kernel: most - least + 1, stride: 1, dilation: 1, before: most, after: -least };
    return isPhased ? { size: sizes[axis]!, stride, kernel, before, window } : null;
  });
  return axes.every((axis) => axis !== null) ? axes : null;
}

/**
 * Transposed convolution as a convolution over its input with separate filters for each phase of the output. The pixels
 * of the phases are then interleaved, so that no pixel visits taps that do not reach it.
 * Source: Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016.
 */
function emitPhases(lowering: Lowering, node: OnnxNode, weights: Constant, axes: readonly PhasedAxis[]): void {
  const input = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const [channels, filters] = [weights.shape[0]!, weights.shape[1]!];
  const still: PhasedAxis = { ...STILL, size: 1, window: STILL };
  const [y, x] = axes.length === 1 ? [still, axes[0]!] : [axes[0]!, axes[1]!];
  const phases = y.stride * x.stride;
  const taps = y.window.kernel * x.window.kernel;
  const tapOf = ({ stride, before, window }: PhasedAxis, phase: number, place: number) =>
    stride * (window.before - place) + phase + before;
  const at = (slot: number, place: number) => {
    const [filter, phase] = [Math.floor(slot / phases), slot % phases];
    const [channel, tap] = [Math.floor(place / taps), place % taps];
    const down = tapOf(y, Math.floor(phase / x.stride), Math.floor(tap / x.window.kernel));
    const along = tapOf(x, phase % x.stride, tap % x.window.kernel);
    const reaches = down >= 0 && down < y.kernel && along >= 0 && along < x.kernel;
    return reaches ? ((channel * filters + filter) * y.kernel + down) * x.kernel + along : -1;
  };
  const shape = [...input.shape.slice(0, 1), filters * phases, ...axes.map(({ size }) => size)];
  const apart: Activation = { ...output, shape, region: { words: countElements(shape) } };
  const windows = axes.map(({ window }) => window);
  const form = { groups: 1, filters: filters * phases, channels, taps, at, windows, output: apart, phases };
  emitConvolution(lowering, node, weights, form);
  const picture = y.size * x.size;
  const walk = [
    { size: filters, a: phases * picture, b: 0, out: phases * picture },
    { size: y.size, a: x.size, b: 0, out: phases * x.size },
    { size: y.stride, a: x.stride * picture, b: 0, out: x.stride * x.size },
    { size: x.size, a: 1, b: 0, out: x.stride },
    { size: x.stride, a: picture, b: 0, out: 1 },
  ];
  emitWalk(lowering, node, apart, walk, output);
}

/** Windows of a convolution; padding of a transposed one may follow from the shape of its output. */
function windowsInto(
  node: OnnxNode,
  sizes: readonly number[],
  kernel: readonly number[],
  out: readonly number[],
): readonly Window[] {
  const windows = windowsOf(node, sizes, kernel);
  const mode = textOf(node, "auto_pad", "NOTSET");
  const isGiven = mode === "NOTSET" && !intsOf(node, "output_shape");
  if (node.operator !== "ConvTranspose" || isGiven || mode === "VALID") return windows;
  const extra = intsOf(node, "output_padding");
  return windows.map((window, axis) => {
    const { stride, dilation } = window;
    const whole = stride * (sizes[axis]! - 1) + (extra?.[axis] ?? 0) + (window.kernel - 1) * dilation + 1;
    const pad = Math.max(0, whole - out[axis]!);
    const less = Math.floor(pad / 2);
    const before = mode === "SAME_UPPER" ? less : pad - less;
    return { ...window, before, after: pad - before };
  });
}

/** Convolution over three axes, which few networks have: an element of the output at a time. */
function emitFar(
  lowering: Lowering,
  node: OnnxNode,
  weights: Constant,
  {
    groups,
    filters,
    channels,
    taps,
    which = 0,
    windows,
    output,
  }: Filters & Required<Pick<Filters, "windows" | "output">>,
): void {
  const input = lowering.activationOf(node, 0);
  const bias = lowering.optionalConstant(node, 2)?.floats;
  const far = windows[0]!;
  const within = (shape: readonly number[]) => shape.toSpliced(2, 1);
  const items = groups * filters * countElements(output.shape.slice(2));
  const numbers = {
    ...pictures(node, within(input.shape), within(output.shape), windows.slice(1)),
    d0: output.shape[2]!,
    d1: input.shape[2]!,
    d2: far.kernel,
    a0: far.stride,
    a1: far.dilation,
    a2: far.before,
    weights: lowering.weights.putFloats(weights.floats),
    bias: bias === undefined ? -1 : lowering.weights.putFloats(bias),
    which,
    filters,
    channels,
    items,
  };
  const work = output.shape[0]! * items * channels * taps;
  emitPictures(lowering, node, { kind: "convolveFar", numbers, input, work }, output);
}

interface Filters extends Pick<WeightMatrix, "at"> {
  readonly groups: number;
  /** Filters of one group, like the channels that each of them sees. */
  readonly filters: number;
  readonly channels: number;
  readonly taps: number;
  readonly which?: number;
  /** Replacements for the node's own windows, output and filters that share a bias. */
  readonly windows?: readonly Window[];
  readonly output?: Activation;
  readonly phases?: number;
}

function emitConvolution(lowering: Lowering, node: OnnxNode, weights: Constant, shape: Filters): void {
  const { groups, filters, channels, taps, which = 0, phases = 1 } = shape;
  const input = lowering.activationOf(node, 0);
  const { output = lowering.reserve(node) } = shape;
  const { windows = windowsInto(node, input.shape.slice(2), weights.shape.slice(2), output.shape.slice(2)) } = shape;
  if (windows.length === 3) {
    emitFar(lowering, node, weights, { ...shape, output, windows });
    return;
  }
  const geometry = pictures(node, input.shape, output.shape, windows);
  const bias = lowering.optionalConstant(node, 2)?.floats;
  const pixels = geometry["outHeight"]! * geometry["outWidth"]!;
  const all = groups * filters;
  const work = countElements(output.shape) * channels * taps;
  // Filters of the same channel are computed together.
  if (channels === 1 && (filters < 4 || groups > 1)) {
    const matrix = { outputs: all, inputs: taps, at: shape.at };
    const placed = lowering.weights.putMatrix(weights, matrix, "inputs");
    const offset = bias === undefined ? -1 : lowering.weights.putFloats(bias);
    const numbers = {
      ...geometry,
      ...placed,
      which,
      bias: offset,
      filters,
      rows: all,
      items: all * Math.ceil(pixels / 4),
    };
    emitPictures(lowering, node, { kind: "convolveEach", numbers, input, work }, output);
    return;
  }
  // Blocks of eight do not cross the end of a group.
  const padded = Math.ceil(filters / 8) * 8;
  const filterAt = (slot: number) => {
    const within = slot % padded;
    return within < filters ? Math.floor(slot / padded) * filters + within : -1;
  };
  const at = (slot: number, place: number) => {
    const filter = filterAt(slot);
    return filter < 0 ? -1 : shape.at(filter, place);
  };
  const matrix = { outputs: groups * padded, inputs: channels * taps, at };
  const placed = lowering.weights.putMatrix(weights, matrix, "outputs");
  const isAlone = groups === 1 && output.shape[0] === 1;
  const isTiled = isAlone && which === 0 && placed.weightType === 0 && isHeavy(work, pixels);
  // Tiles multiply zeros with what follows the last channel, which must be numbers.
  if (isTiled) lowering.weights.putFloats(new Float32Array(4 * taps * (-channels & 3)));
  const offset =
    bias === undefined
      ? -1
      : lowering.weights.putFloats(
          Array.from({ length: groups * padded }, (_, slot) => bias[Math.floor(filterAt(slot) / phases)] ?? 0),
        );
  const items = ((groups * padded) / 8) * Math.ceil(pixels / 8);
  const numbers = { ...geometry, ...placed, which, bias: offset, filters, channels, items };
  const words = Math.ceil(channels / 4) * 4 * geometry["height"]! * geometry["width"]!;
  const turned = isTiled ? { turned: { region: { words }, offset: 0 } } : {};
  emitPictures(lowering, node, { kind: "convolve", numbers, input, work, ...turned }, output);
}

/** The same operator for each picture, where a network of fixed size has several. */
function emitPictures(
  lowering: Lowering,
  node: OnnxNode,
  op: Omit<PlannedOp, "output" | "input"> & { readonly input: Activation },
  output: Activation,
): void {
  const count = output.shape[0]!;
  const [words, outWords] = [op.input, output].map(({ shape }) => countElements(shape) / count) as [number, number];
  for (let index = 0; index < count; index++) {
    const input = { ...op.input, offset: op.input.offset + index * words };
    const work = op.work / count;
    lowering.emit(node, { ...op, input, work }, { ...output, offset: output.offset + index * outWords });
  }
  lowering.define(node.outputs[0]!, output);
}

/** Sizes of images and windows; a series is an image of height 1. */
export function pictures(
  node: OnnxNode,
  shape: readonly number[],
  outShape: readonly number[],
  windows: readonly Window[],
): OpNumbers {
  const rank = shape.length - 2;
  if (rank < 1 || rank > 2) throw unsupported(node, `it slides along ${rank} axes`);
  const [y, x] = rank === 1 ? [STILL, windows[0]!] : [windows[0]!, windows[1]!];
  return {
    height: rank === 1 ? 1 : shape[2]!,
    width: shape.at(-1)!,
    outHeight: rank === 1 ? 1 : outShape[2]!,
    outWidth: outShape.at(-1)!,
    kernelHeight: y.kernel,
    kernelWidth: x.kernel,
    strideY: y.stride,
    strideX: x.stride,
    dilationY: y.dilation,
    dilationX: x.dilation,
    padY: y.before,
    padX: x.before,
  };
}
