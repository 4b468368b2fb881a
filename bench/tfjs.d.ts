/** What is used of TensorFlow.js: the package is not there until the first bench installs it. */
declare module "@tensorflow/tfjs-core" {
  export interface Tensor {
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  export function setBackend(name: string): Promise<boolean>;
  export function tensor2d(values: Float32Array, shape: readonly [number, number]): Tensor;
  export function matMul(a: Tensor, b: Tensor): Tensor;
}

declare module "@tensorflow/tfjs-backend-webgpu" {}
