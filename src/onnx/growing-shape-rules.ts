import { along, broadcast, type ShapeRule, windowsOf } from "./shape-rule.ts";
import { countElements, intOf, intsOf, textOf } from "./onnx-model.ts";

const expand: ShapeRule = ({ inputs: [input], numbers }) => {
  const target = numbers(1);
  const shape = input && target && broadcast(input, target);
  return shape && [shape];
};

const fill: ShapeRule = ({ numbers }) => {
  const shape = numbers(0);
  return shape && [shape];
};

const tile: ShapeRule = ({ inputs: [input], numbers }) => {
  const times = numbers(1);
  return input && times && [input.map((size, axis) => size * times[axis]!)];
};

const range: ShapeRule = ({ numbers }) => {
  const [[start], [limit], [step]] = [numbers(0) ?? [], numbers(1) ?? [], numbers(2) ?? []];
  if (start === undefined || limit === undefined || step === undefined) return undefined;
  return [[Math.max(0, Math.ceil((limit - start) / step))]];
};

/** Pads were an attribute before opset 11. */
const pad: ShapeRule = ({ node, inputs: [input], numbers }) => {
  const pads = intsOf(node, "pads") ?? numbers(1);
  const axes = node.inputs[3] ? numbers(3) : input?.map((_, axis) => axis);
  if (!input || !pads || !axes) return undefined;
  const sizes = [...input];
  axes.forEach((named, index) => {
    const axis = along(named, input);
    sizes[axis] = sizes[axis]! + pads[index]! + pads[index + axes.length]!;
  });
  return [sizes];
};

const oneHot: ShapeRule = ({ node, inputs: [indices], numbers }) => {
  const [depth] = numbers(1) ?? [];
  if (!indices || depth === undefined) return undefined;
  const axis = intOf(node, "axis", -1);
  return [indices.toSpliced(axis < 0 ? axis + indices.length + 1 : axis, 0, depth)];
};

const resize: ShapeRule = (context) => {
  const { node, inputs, opset } = context;
  const [input] = inputs;
  if (!input) return undefined;
  const axes = intsOf(node, "axes") ?? input.map((_, axis) => axis);
  const sizes = node.inputs[3] ? context.numbers(3) : undefined;
  const scales = sizes === undefined ? context.numbers(opset < 11 ? 1 : 2) : undefined;
  const found = [...input];
  const policy = textOf(node, "keep_aspect_ratio_policy", "stretch");
  if (sizes?.length === axes.length && policy !== "stretch") {
    const ratios = axes.map((axis, index) => sizes[index]! / input[along(axis, input)]!);
    const one = policy === "not_larger" ? Math.min(...ratios) : Math.max(...ratios);
    axes.forEach((axis) => (found[along(axis, input)] = Math.round(input[along(axis, input)]! * one)));
  } else if (sizes?.length === axes.length) axes.forEach((axis, index) => (found[along(axis, input)] = sizes[index]!));
  else if (scales?.length === axes.length) scaleEach(found, axes, scales);
  else return undefined;
  return [found];
};

function scaleEach(sizes: number[], axes: readonly number[], scales: readonly number[]): void {
  axes.forEach((named, index) => {
    const axis = along(named, sizes);
    sizes[axis] = Math.floor(sizes[axis]! * scales[index]!);
  });
}

const upsample: ShapeRule = ({ inputs: [input], numbers }) => {
  const scales = numbers(1);
  return input && scales && [input.map((size, axis) => Math.floor(size * scales[axis]!))];
};

/** As many as there can be: every element. */
const nonZero: ShapeRule = ({ inputs: [input] }) =>
  input && [[input.length, input.reduce((product, size) => product * size, 1)]];

/** With padding that is not said in numbers, the output is as large as the strides make it. */
const convolveBack: ShapeRule = ({ node, inputs: [input, weights] }) => {
  if (!input || !weights) return undefined;
  const [extra, said] = [intsOf(node, "output_padding"), intsOf(node, "output_shape")];
  const isSame = textOf(node, "auto_pad", "NOTSET").startsWith("SAME");
  const sizes = windowsOf(node, input.slice(2), weights.slice(2)).map((window, axis) => {
    const { kernel, stride, dilation, before, after } = window;
    const size = input[axis + 2]!;
    if (isSame) return size * stride;
    return stride * (size - 1) + (extra?.[axis] ?? 0) + (kernel - 1) * dilation + 1 - before - after;
  });
  return [[input[0]!, weights[1]! * intOf(node, "group", 1), ...(said ?? sizes)]];
};

const random: ShapeRule = ({ node }) => {
  const shape = intsOf(node, "shape");
  return shape && [shape];
};

const windowOf: ShapeRule = ({ numbers }) => {
  const [size] = numbers(0) ?? [];
  return size === undefined ? undefined : [[size]];
};

const melMatrix: ShapeRule = ({ numbers }) => {
  const [[bins], [length]] = [numbers(0) ?? [], numbers(1) ?? []];
  return bins === undefined || length === undefined ? undefined : [[Math.floor(length / 2) + 1, bins]];
};

const sample: ShapeRule = ({ node, inputs: [input] }) => input && [[input[0]!, intOf(node, "sample_size", 1)]];

const affineGrid: ShapeRule = ({ numbers }) => {
  const size = numbers(1);
  return size && [[size[0]!, ...size.slice(2), size.length - 2]];
};

const cropOrPad: ShapeRule = ({ node, inputs: [input], numbers }) => {
  const target = numbers(1);
  const axes = intsOf(node, "axes") ?? input?.map((_, axis) => axis);
  if (!input || !target || target.length !== axes?.length) return undefined;
  const sizes = [...input];
  axes.forEach((axis, index) => (sizes[along(axis, input)] = target[index]!));
  return [sizes];
};

const toImage: ShapeRule = ({ inputs: [input], numbers }) => {
  const [image, block] = [numbers(1), numbers(2)];
  return input && image && block && [[input[0]!, input[1]! / countElements(block), ...image]];
};

const unpool: ShapeRule = ({ numbers }) => {
  const shape = numbers(2);
  return shape && [shape];
};

const regions: ShapeRule = ({ node, inputs: [input, found] }) => {
  if (!input || !found) return undefined;
  const sizes = intsOf(node, "pooled_shape") ?? [intOf(node, "output_height", 1), intOf(node, "output_width", 1)];
  return [[found[0]!, input[1]!, ...sizes]];
};

/** Rules of operators whose outputs may be far larger than their inputs, by the value of a few numbers. */
export const GROWING_SHAPE_RULES: ReadonlyMap<string, ShapeRule> = new Map(
  Object.entries({
    AffineGrid: affineGrid,
    BlackmanWindow: windowOf,
    CenterCropPad: cropOrPad,
    Col2Im: toImage,
    ConstantOfShape: fill,
    ConvTranspose: convolveBack,
    Expand: expand,
    HammingWindow: windowOf,
    HannWindow: windowOf,
    MaxRoiPool: regions,
    MaxUnpool: unpool,
    MelWeightMatrix: melMatrix,
    Multinomial: sample,
    NonZero: nonZero,
    OneHot: oneHot,
    Pad: pad,
    RandomNormal: random,
    RandomUniform: random,
    Range: range,
    Resize: resize,
    RoiAlign: regions,
    Tile: tile,
    Upsample: upsample,
  }),
);
