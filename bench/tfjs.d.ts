/** The used part of TensorFlow.js: the package is missing until the first bench installs it. */
declare module "@tensorflow/tfjs-core" {
  export interface Tensor {
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  export function setBackend(name: string): Promise<boolean>;
  export function tidy(run: () => Tensor): Tensor;
  export function tensor(values: Float32Array, shape: readonly number[]): Tensor;
  export function matMul(a: Tensor, b: Tensor): Tensor;
  export function softmax(logits: Tensor): Tensor;
  export function conv2d(input: Tensor, filter: Tensor, strides: number, pad: "same"): Tensor;
  export const fused: {
    matMul(dense: { a: Tensor; b: Tensor; bias: Tensor; activation: "linear" | "relu" }): Tensor;
  };
}

declare module "@tensorflow/tfjs-backend-webgpu" {}
declare module "@tensorflow/tfjs-backend-wasm" {}
