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

/** A network that takes each row of its input through the same steps, one after the other. */
export interface DenseNetwork {
  readonly input: string;
  /** Elements of a row. */
  readonly inputs: number;
  readonly output: string;
  /** Shape of what a row becomes. */
  readonly outputShape: readonly number[];
  readonly steps: readonly DenseStep[];
  /** Numbers in weights and biases. */
  readonly parameters: number;
  /** Work of a row, as the number of weight products that take about as long. */
  readonly rowProducts: number;
}
