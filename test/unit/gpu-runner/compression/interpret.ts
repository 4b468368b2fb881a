import {
  countElements,
  floatOf,
  intOf,
  intsOf,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from "../../../../src/onnx/onnx-model.ts";
import { countPlaces, windowsOf } from "../../../../src/onnx/shape-rule.ts";
import { floatsOf, integersOf } from "../../../../src/onnx/tensor-values.ts";

/** Numbers in the shape of a tensor, row by row; each is a float32 or a whole number. */
export interface Values {
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

type Operator = (inputs: readonly Values[], node: OnnxNode) => Values;

/** A network's answers, operator by operator by their definitions: slow, and independent of the tested code. */
export function interpret(model: OnnxModel, inputs: ReadonlyMap<string, Values>): Map<string, Values> {
  const values = new Map(inputs);
  const types = new Map<string, string>();
  for (const tensor of model.weights.values()) {
    values.set(tensor.name, valuesOf(tensor));
    types.set(tensor.name, tensor.dtype);
  }
  for (const node of model.nodes) {
    const operator = OPERATORS[node.operator];
    if (operator === undefined) throw new Error(`${node.operator} is not interpreted`);
    const given = node.inputs.map((name) => values.get(name)!);
    const signed = types.get(node.inputs[2] ?? "") === "int8";
    const answer = node.operator === "QuantizeLinear" ? quantise(given, signed ? -128 : 0) : operator(given, node);
    values.set(node.outputs[0]!, { dims: answer.dims, data: answer.data.map(Math.fround) });
  }
  return values;
}

function valuesOf(tensor: OnnxTensor): Values {
  const floats = tensor.dtype.startsWith("float");
  return { dims: tensor.dims, data: floats ? [...floatsOf(tensor)] : integersOf(tensor) };
}

/** Adding so large a float32 leaves no bits after the point: the adder rounds half to even. */
function nearest(value: number): number {
  const large = 1.5 * 2 ** 23;
  return Math.fround(Math.fround(value + large) - large);
}

function quantise([x, scale, zero]: readonly Values[], low: number): Values {
  const data = x!.data.map((value) => {
    const quotient = Math.fround(value / scale!.data[0]!);
    const whole = Math.abs(quotient) < 2 ** 22 ? nearest(quotient) : quotient;
    return Math.min(low + 255, Math.max(low, whole + zero!.data[0]!));
  });
  return { dims: x!.dims, data };
}

const dequantise: Operator = ([x, scale, zero], node) => {
  const axis = intOf(node, "axis", 1);
  const block = intOf(node, "block_size", 0);
  const place = (flat: number): number => {
    if (scale!.dims.length === 0) return 0;
    const index = indexOf(flat, x!.dims);
    if (block === 0) return index[axis]!;
    return flatten(index.with(axis, Math.floor(index[axis]! / block)), scale!.dims);
  };
  const data = x!.data.map((whole, flat) => (whole - (zero?.data[place(flat)] ?? 0)) * scale!.data[place(flat)]!);
  return { dims: x!.dims, data };
};

function indexOf(flat: number, dims: readonly number[]): number[] {
  const index = dims.map(() => 0);
  for (let axis = dims.length - 1, rest = flat; axis >= 0; axis--) {
    index[axis] = rest % dims[axis]!;
    rest = Math.floor(rest / dims[axis]!);
  }
  return index;
}

function flatten(index: readonly number[], dims: readonly number[]): number {
  return index.reduce((flat, each, axis) => flat * dims[axis]! + each, 0);
}

function* eachIndex(dims: readonly number[]): Generator<number[]> {
  for (let flat = 0; flat < countElements(dims); flat++) yield indexOf(flat, dims);
}

function build(dims: readonly number[], value: (index: number[]) => number): Values {
  return { dims, data: [...eachIndex(dims)].map(value) };
}

/** The element at an index, or the padding where the index is outside. */
function at({ dims, data }: Values, index: readonly number[], outside: number): number {
  return index.every((place, axis) => place >= 0 && place < dims[axis]!) ? data[flatten(index, dims)]! : outside;
}

const convolve: Operator = ([x, w, b], node) => {
  const windows = windowsOf(node, x!.dims.slice(2), w!.dims.slice(2));
  const groups = intOf(node, "group", 1);
  const [outputs, inputs] = [w!.dims[0]!, w!.dims[1]!];
  const sizes = windows.map((window, axis) => countPlaces(x!.dims[axis + 2]!, window));
  const taps = [...eachIndex(w!.dims.slice(1))];
  return build([x!.dims[0]!, outputs, ...sizes], ([row, channel, ...places]) => {
    const first = Math.floor(channel! / (outputs / groups)) * inputs;
    let sum = b?.data[channel!] ?? 0;
    for (const [input, ...offsets] of taps) {
      const from = offsets.map((offset, axis) => {
        const { stride, dilation, before } = windows[axis]!;
        return places[axis]! * stride + offset * dilation - before;
      });
      sum += at(x!, [row!, first + input!, ...from], 0) * at(w!, [channel!, input!, ...offsets], 0);
    }
    return sum;
  });
};

const maxPool: Operator = ([x], node) => {
  const windows = windowsOf(node, x!.dims.slice(2));
  const sizes = windows.map((window, axis) => countPlaces(x!.dims[axis + 2]!, window));
  return build([...x!.dims.slice(0, 2), ...sizes], ([row, channel, ...places]) =>
    [...eachIndex(windows.map(({ kernel }) => kernel))].reduce((largest, offsets) => {
      const from = offsets.map(
        (offset, axis) => places[axis]! * windows[axis]!.stride + offset - windows[axis]!.before,
      );
      return Math.max(largest, at(x!, [row!, channel!, ...from], -Infinity));
    }, -Infinity),
  );
};

const globalAverage: Operator = ([x]) => {
  const spatial = x!.dims.slice(2);
  return build([...x!.dims.slice(0, 2), ...spatial.map(() => 1)], ([row, channel]) => {
    const all = [...eachIndex(spatial)].map((place) => at(x!, [row!, channel!, ...place], 0));
    return all.reduce((sum, value) => sum + value, 0) / all.length;
  });
};

const multiply: Operator = ([a, b]) =>
  build([...a!.dims.slice(0, -1), b!.dims[1]!], (index) => {
    const [outer, column] = [index.slice(0, -1), index.at(-1)!];
    let sum = 0;
    for (let row = 0; row < b!.dims[0]!; row++) sum += at(a!, [...outer, row], 0) * at(b!, [row, column], 0);
    return sum;
  });

const transpose = ({ dims, data }: Values): Values =>
  build(dims.toReversed(), (index) => data[flatten(index.toReversed(), dims)]!);

const gemm: Operator = ([a, b, c], node) => {
  const [left, right] = [intOf(node, "transA", 0) ? transpose(a!) : a!, intOf(node, "transB", 0) ? transpose(b!) : b!];
  const product = multiply([left, right], node);
  const [alpha, beta] = [floatOf(node, "alpha", 1), floatOf(node, "beta", 1)];
  const shift = c ?? { dims: [], data: [0] };
  const data = product.data.map((value, flat) => {
    const index = indexOf(flat, product.dims).slice(product.dims.length - shift.dims.length);
    const place = index.map((each, axis) => (shift.dims[axis] === 1 ? 0 : each));
    return alpha * value + beta * shift.data[flatten(place, shift.dims)]!;
  });
  return { dims: product.dims, data };
};

const elementwise =
  (compute: (one: number, other: number) => number): Operator =>
  ([a, b]) =>
    build(a!.dims, (index) => {
      const place = index.slice(a!.dims.length - b!.dims.length).map((each, axis) => (b!.dims[axis] === 1 ? 0 : each));
      return compute(at(a!, index, 0), at(b!, place, 0));
    });

const mapped =
  (compute: (value: number) => number): Operator =>
  ([x]) => ({ dims: x!.dims, data: x!.data.map(compute) });

const normalise: Operator = ([x, scale, shift, mean, variance], node) =>
  build(x!.dims, (index) => {
    const channel = index[1]!;
    const root = Math.sqrt(variance!.data[channel]! + floatOf(node, "epsilon", 1e-5));
    return ((at(x!, index, 0) - mean!.data[channel]!) / root) * scale!.data[channel]! + shift!.data[channel]!;
  });

const concatenate: Operator = (inputs, node) => {
  const axis = intOf(node, "axis", 0);
  const total = inputs.reduce((sum, { dims }) => sum + dims[axis]!, 0);
  return build(inputs[0]!.dims.with(axis, total), (index) => {
    let place = index[axis]!;
    const from = inputs.find(({ dims }) => place < dims[axis]! || ((place -= dims[axis]!), false))!;
    return at(from, index.with(axis, place), 0);
  });
};

const OPERATORS: Readonly<Record<string, Operator>> = {
  Conv: convolve,
  MaxPool: maxPool,
  GlobalAveragePool: globalAverage,
  MatMul: multiply,
  Gemm: gemm,
  Add: elementwise((a, b) => a + b),
  Mul: elementwise((a, b) => a * b),
  Relu: mapped((value) => Math.max(0, value)),
  Tanh: mapped(Math.tanh),
  Cast: mapped((value) => value),
  Clip: ([x, low, high]) => ({
    dims: x!.dims,
    data: x!.data.map((value) => Math.min(high!.data[0]!, Math.max(low!.data[0]!, value))),
  }),
  BatchNormalization: normalise,
  Concat: concatenate,
  Flatten: ([x]) => ({ dims: [x!.dims[0]!, countElements(x!.dims.slice(1))], data: x!.data }),
  Reshape: ([x, shape]) => ({
    dims: shape!.data.map((size, axis) => {
      if (size === 0) return x!.dims[axis]!;
      const known = countElements(shape!.data.map((each, other) => (each === 0 ? x!.dims[other]! : Math.abs(each))));
      return size === -1 ? x!.data.length / known : size;
    }),
    data: x!.data,
  }),
  Transpose: ([x], node) => {
    const order = intsOf(node, "perm")!;
    const dims = order.map((axis) => x!.dims[axis]!);
    return build(dims, (index) =>
      at(
        x!,
        x!.dims.map((_, axis) => index[order.indexOf(axis)]!),
        0,
      ),
    );
  },
  QuantizeLinear: (given) => quantise(given, 0),
  DequantizeLinear: dequantise,
};
