/** y = x · weights + bias; weights are [inputs, outputs] row by row. */
export interface DenseLayer {
  readonly kind: "dense";
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}
export type DenseStep =
  | DenseLayer
  | { readonly kind: "relu" | "tanh" | "sigmoid" | "softmax" }
  | { readonly kind: "leakyRelu"; readonly slope: number };

/** A network that applies the same steps in order to each row of its input. */
export interface DenseNetwork {
  readonly input: string;
  /** Elements of a row. */
  readonly inputs: number;
  readonly output: string;
  /** Shape of the output for one row. */
  readonly outputShape: readonly number[];
  readonly steps: readonly DenseStep[];
  /** Number of weights and biases. */
  readonly parameters: number;
  /** Work of a row, as the number of weight products that take about as long. */
  readonly rowProducts: number;
}
