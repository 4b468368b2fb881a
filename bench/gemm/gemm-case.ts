import { gemm } from "../../kernels/gemm/gemm.kernel.ts";

/** A product of two square matrices, so many of them a batch. */
export interface GemmCase {
  readonly size: number;
  readonly products: number;
}

export const SEED = 1;

export function shapeOf(size: number): Record<"m" | "n" | "k", number> {
  return { m: size, n: size, k: size };
}

/** The matrices that every contender multiplies, row-major. */
export function createMatrices(size: number): { a: Float32Array<ArrayBuffer>; b: Float32Array<ArrayBuffer> } {
  return gemm.generate(shapeOf(size), SEED) as { a: Float32Array<ArrayBuffer>; b: Float32Array<ArrayBuffer> };
}
