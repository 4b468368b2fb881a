import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type DepthwiseSize = "batch" | "height" | "width" | "channels" | "kernel" | "stride";

/**
 * output[batch × ⌈height/stride⌉ × ⌈width/stride⌉ × channels] of input[batch × height × width × channels] and
 * weights[kernel × kernel × channels]: every channel by its own filter, summed in f64. Output (y, x) is centred
 * on input (y·stride, x·stride): ⌊kernel/2⌋ rows and columns of zeros come before the first ones.
 */
export function depthwiseConv2dReference(inputs: KernelArrays, shape: KernelShape<DepthwiseSize>): KernelReference {
  const { input, weights } = inputs as { input: Float32Array; weights: Float32Array };
  const { batch, height, width, channels, kernel, stride } = shape;
  const outHeight = Math.ceil(height / stride);
  const outWidth = Math.ceil(width / stride);
  const before = Math.floor(kernel / 2);
  return {
    output: "output",
    length: batch * outHeight * outWidth * channels,
    elementFlops: 2 * kernel * kernel,
    element(index) {
      const channel = index % channels;
      const pixel = Math.floor(index / channels);
      const image = Math.floor(pixel / outWidth / outHeight);
      let sum = 0;
      for (let tap = 0; tap < kernel * kernel; tap++) {
        const x = (pixel % outWidth) * stride - before + (tap % kernel);
        const y = (Math.floor(pixel / outWidth) % outHeight) * stride - before + Math.floor(tap / kernel);
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        sum += input[((image * height + y) * width + x) * channels + channel]! * weights[tap * channels + channel]!;
      }
      return sum;
    },
  };
}
