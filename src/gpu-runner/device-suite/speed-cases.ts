import type { KernelShape } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";

/** A kernel at the size at which a GPU's speed is measured. */
export interface SpeedCase {
  readonly name: string;
  readonly kernel: string;
  readonly shape: KernelShape;
  /**
   * Dimensions that are halved together for a device on which the size would take too long, group by group: the next one
   * once the one before is down to 1.
   */
  readonly halved: readonly (readonly string[])[];
}

const gemm = (m: number, n: number, k: number): SpeedCase => ({
  name: m === n ? `gemm ${m}` : `gemm ${m}×${n}×${k}`,
  kernel: "gemm",
  shape: { m, n, k },
  halved: [m === n ? ["m", "n", "k"] : ["n", "k"]],
});

const rows = (kernel: string, count: number, columns: number): SpeedCase => ({
  name: `${kernel} ${count}×${columns}`,
  kernel,
  shape: { rows: count, columns },
  halved: [[count > columns ? "rows" : "columns"]],
});

/** A 3×3 convolution between equal numbers of channels, as in ResNet. */
const convolution = (batch: number, side: number, channels: number): SpeedCase => ({
  name: `conv2d ${batch}×${side}×${side}×${channels}`,
  kernel: "conv2d",
  shape: { batch, height: side, width: side, channels, filters: channels, kernel: 3, stride: 1 },
  halved: [["batch"], ["channels", "filters"]],
});

const depthwise = (batch: number, side: number, channels: number): SpeedCase => ({
  name: `depthwise-conv2d ${batch}×${side}×${side}×${channels}`,
  kernel: "depthwise-conv2d",
  shape: { batch, height: side, width: side, channels, kernel: 3, stride: 1 },
  halved: [["batch"], ["channels"]],
});

/** The most important first, for a suite that runs out of time. */
export const SPEED_CASES: readonly SpeedCase[] = [
  gemm(1024, 1024, 1024),
  gemm(4096, 4096, 4096),
  gemm(16, 4096, 4096),
  gemm(256, 256, 256),
  gemm(2048, 2048, 2048),
  rows("softmax", 8192, 1024),
  rows("softmax", 64, 1024),
  rows("softmax", 16, 32_768),
  convolution(32, 56, 64),
  convolution(1, 56, 64),
  convolution(32, 28, 128),
  convolution(32, 14, 256),
  convolution(1, 14, 256),
  convolution(32, 7, 512),
  depthwise(32, 56, 128),
  depthwise(1, 56, 128),
  rows("layernorm", 8192, 1024),
  rows("layernorm", 512, 768),
  { name: "reduce 2²⁵", kernel: "reduce", shape: { n: 2 ** 25 }, halved: [["n"]] },
  { name: "transpose 4096", kernel: "transpose", shape: { m: 4096, n: 4096 }, halved: [["m", "n"]] },
  { name: "copy 2²⁵", kernel: "copy", shape: { n: 2 ** 25 }, halved: [["n"]] },
  {
    // Scores of attention: 8 sequences of 512 places with 12 heads of 64.
    name: "batched-gemm 96×512×512×64",
    kernel: "batched-gemm",
    shape: { batch: 96, m: 512, n: 512, k: 64 },
    halved: [["batch"]],
  },
];

/** Longest run at the device's roofs; our kernels take a few times as long. */
const LONGEST_MS = 20;

/** Time of one run of a kernel at the device's roofs, in milliseconds; a roof that is not known costs nothing. */
export function predictMs(kernel: string, shape: KernelShape, roofs: Roofline): number {
  const spec = KERNELS.get(kernel);
  if (spec === undefined) throw new TypeError(`there is no kernel ${kernel}`);
  const bandwidth = Math.max(0, ...Object.values(roofs.gigabytesPerSecond).map((peak) => peak?.value ?? 0));
  const arithmetic = roofs.gflops.float32?.value ?? 0;
  const timeMs = (amount: number, peak: number) => (peak === 0 ? 0 : amount / peak / 1e6);
  return Math.max(timeMs(spec.flops(shape), arithmetic), timeMs(spec.bytes(shape), bandwidth));
}

/** The size of a case for a device with these roofs: halved until a run at the roofs is short enough. */
export function fitShape({ kernel, shape, halved }: SpeedCase, roofs: Roofline): KernelShape {
  const fitted = { ...shape };
  while (predictMs(kernel, fitted, roofs) > LONGEST_MS) {
    const group = halved.find((names) => names.every((name) => fitted[name]! > 1));
    if (group === undefined) break;
    for (const name of group) fitted[name] = Math.floor(fitted[name]! / 2);
  }
  return fitted;
}
