import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { listColumns } from "../list-columns.ts";

export type Conv2dSize = "batch" | "height" | "width" | "channels" | "filters" | "kernel" | "stride";

/**
 * output[batch × ⌈height/stride⌉ × ⌈width/stride⌉ × filters] of input[batch × height × width × channels] and
 * weights[kernel × kernel × channels × filters], summed in f64. Output (y, x) is centred on input
 * (y·stride, x·stride): ⌊kernel/2⌋ rows and columns of zeros come before the first ones.
 */
export function conv2dReference(inputs: KernelArrays, shape: KernelShape<Conv2dSize>): KernelReference {
  const { input, weights } = inputs as { input: Float32Array; weights: Float32Array };
  const { batch, height, width, channels, filters, kernel, stride } = shape;
  const outHeight = Math.ceil(height / stride);
  const outWidth = Math.ceil(width / stride);
  const before = Math.floor(kernel / 2);
  const products = kernel * kernel * channels;
  let filterWeights: Float32Array | null = null;

  /** Sum over the channels of one pixel, or nothing outside the picture. */
  function sumTap(image: number, y: number, x: number, tap: number, filter: number): number {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    const pixel = ((image * height + y) * width + x) * channels;
    filterWeights ??= listColumns(weights, products, filters);
    const weight = filter * products + tap * channels;
    let sum = 0;
    for (let c = 0; c < channels; c++) sum += input[pixel + c]! * filterWeights[weight + c]!;
    return sum;
  }

  return {
    output: "output",
    length: batch * outHeight * outWidth * filters,
    elementFlops: 2 * products,
    element(index) {
      const filter = index % filters;
      const pixel = Math.floor(index / filters);
      const x = (pixel % outWidth) * stride - before;
      const y = (Math.floor(pixel / outWidth) % outHeight) * stride - before;
      const image = Math.floor(pixel / outWidth / outHeight);
      let sum = 0;
      for (let tap = 0; tap < kernel * kernel; tap++) {
        sum += sumTap(image, y + Math.floor(tap / kernel), x + (tap % kernel), tap, filter);
      }
      return sum;
    },
  };
}
