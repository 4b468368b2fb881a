import { testKernel } from "../../test/kernels/test-kernel.ts";
import { conv2d } from "./conv2d.kernel.ts";

const one = { batch: 1, height: 1, width: 1, channels: 1, filters: 1, kernel: 1, stride: 1 };

testKernel(
  conv2d,
  [
    { batch: 2, height: 7, width: 9, channels: 5, filters: 19, kernel: 3, stride: 1 },
    one,
    { ...one, kernel: 3 },
    { ...one, height: 5, width: 3, kernel: 7 },
    { batch: 1, height: 8, width: 8, channels: 8, filters: 16, kernel: 1, stride: 1 },
    { batch: 3, height: 6, width: 11, channels: 3, filters: 66, kernel: 1, stride: 2 },
    { batch: 1, height: 9, width: 10, channels: 4, filters: 9, kernel: 3, stride: 2 },
    { batch: 1, height: 10, width: 13, channels: 2, filters: 7, kernel: 5, stride: 3 },
    { batch: 1, height: 11, width: 6, channels: 3, filters: 4, kernel: 2, stride: 4 },
    { batch: 1, height: 14, width: 14, channels: 32, filters: 32, kernel: 3, stride: 1 },
    { batch: 127, height: 512, width: 1, channels: 1, filters: 1, kernel: 1, stride: 1 },
    { batch: 1, height: 512, width: 512, channels: 1, filters: 2, kernel: 1, stride: 2 },
    { batch: 1, height: 1, width: 2, channels: 4096, filters: 3, kernel: 3, stride: 1 },
    { batch: 1, height: 2, width: 1, channels: 2, filters: 4096, kernel: 3, stride: 1 },
  ],
  { "implicit-gemm-shared": { tile: 8 } },
);
