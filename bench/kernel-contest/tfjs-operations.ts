import { readDenseLayers } from "./dense-layers.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import type { KernelCase } from "./kernel-case.ts";

export type Tfjs = typeof import("@tensorflow/tfjs-core");
export type Tensor = import("@tensorflow/tfjs-core").Tensor;

/** A case in TensorFlow.js. */
export interface TfjsOperation {
  /** Inputs that a round trip uploads anew. */
  readonly inputs: readonly { readonly values: Float32Array; readonly shape: readonly number[] }[];
  /** Returns a tensor that the caller disposes of. */
  run(tensors: readonly Tensor[]): Tensor;
}

type Build = (tf: Tfjs, input: KernelCase) => TfjsOperation;

const values = (arrays: Readonly<Record<string, unknown>>, name: string) => arrays[name] as Float32Array;

const gemm: Build = (tf, input) => {
  const { m = 0, n = 0, k = 0 } = input.shape;
  const arrays = inputsOf(input);
  return {
    inputs: [
      { values: values(arrays, "a"), shape: [m, k] },
      { values: values(arrays, "b"), shape: [k, n] },
    ],
    run: ([a, b]) => tf.matMul(a!, b!),
  };
};

const softmax: Build = (tf, input) => {
  const shape = [input.shape["rows"] ?? 0, input.shape["columns"] ?? 0];
  return { inputs: [{ values: values(inputsOf(input), "x"), shape }], run: ([x]) => tf.softmax(x!) };
};

/** Each layer is one operation, the fewest possible. */
const mlp: Build = (tf, input) => {
  const { batch = 0, inputs = 0 } = input.shape;
  const arrays = inputsOf(input);
  const layers = readDenseLayers(arrays, input.shape).map(({ inner, outer, weights, bias }) => ({
    b: tf.tensor(weights, [inner, outer]),
    bias: tf.tensor(bias, [outer]),
  }));
  return {
    inputs: [{ values: values(arrays, "input"), shape: [batch, inputs] }],
    run: ([first]) =>
      tf.tidy(() =>
        layers.reduce(
          (a, layer, index) =>
            tf.fused.matMul({ a, ...layer, activation: index + 1 < layers.length ? "relu" : "linear" }),
          first!,
        ),
      ),
  };
};

const conv2d: Build = (tf, input) => {
  const { batch = 0, height = 0, width = 0, channels = 0, filters = 0, kernel = 0 } = input.shape;
  const arrays = inputsOf(input);
  const weights = tf.tensor(values(arrays, "weights"), [kernel, kernel, channels, filters]);
  return {
    inputs: [{ values: values(arrays, "input"), shape: [batch, height, width, channels] }],
    run: ([pixels]) => tf.conv2d(pixels!, weights, 1, "same"),
  };
};

const BUILDS: Readonly<Record<string, Build>> = { gemm, softmax, mlp, conv2d };

/** The case as calls of TensorFlow.js; weights of networks are on its backend already. */
export function createTfjsOperation(tf: Tfjs, input: KernelCase): TfjsOperation {
  const build = BUILDS[input.kernel];
  if (build === undefined) throw new RangeError(`it has no operators for '${input.kernel}'`);
  return build(tf, input);
}
