/** The used part of ONNX Runtime Web: the package is missing until the first bench installs it. */
declare module "onnxruntime-web" {
  export class Tensor {
    constructor(type: "float32", values: Float32Array, shape: readonly number[]);
    readonly data: Float32Array;
  }
  export const env: { readonly wasm: { numThreads: number } };
  export const InferenceSession: {
    create(
      file: Uint8Array,
      options: { readonly executionProviders: readonly string[] },
    ): Promise<{ run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> }>;
  };
}
