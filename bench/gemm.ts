import { gemm } from "../kernels/gemm/gemm.kernel.ts";
import { checkOutput } from "../src/gpu-runner/gpu/check-output.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { type GemmCase, SEED, shapeOf } from "./gemm/gemm-case.ts";
import { installPeers } from "./install-peers.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

/**
 * C = A·B of square f32 matrices. Timed is the same for all: A and B lie where the contender computes,
 * `products` products are issued back to back, and C of the last one is read back to host memory; the
 * time is that of the batch divided by `products`. Compiling, uploading and choosing come before.
 */
const CASES: readonly GemmCase[] = [
  { size: 64, products: 32 },
  { size: 128, products: 16 },
  { size: 256, products: 8 },
  { size: 512, products: 2 },
  { size: 1024, products: 1 },
];

/** Our register- or shared-tiled kernel, whichever is fastest here, against WebGPU peers on the same adapter. */
export const benchGemm: Bench = async function* benchGemm(context) {
  await installPeers(context.say);
  const { device, environment } = await openAdapter();
  const contender = (module: URL) => inProcess<GemmCase>(module, environment);
  yield* runContest<GemmCase>(
    {
      metrics: { time: { unit: "ms", better: "lower" } },
      cases: CASES.map((input) => ({ name: String(input.size), input })),
      device,
      ours: contender(new URL("./gemm/ours.ts", import.meta.url)),
      peers: {
        "tfjs-webgpu": contender(new URL("./gemm/tfjs-webgpu.ts", import.meta.url)),
        "ort-webgpu": contender(new URL("./gemm/ort-webgpu.ts", import.meta.url)),
        "ort-cpu": contender(new URL("./gemm/ort-cpu.ts", import.meta.url)),
      },
      check: checkProduct,
    },
    context,
  );
};

/** Against the kernel's own f64 reference and tolerance, whoever computed it. */
async function checkProduct({ size }: GemmCase, output: Float32Array): Promise<void> {
  const shape = shapeOf(size);
  const reference = gemm.reference(gemm.generate(shape, SEED), shape);
  await checkOutput(output as Float32Array<ArrayBuffer>, reference, gemm.tolerance, shape, SEED, () => {});
}
