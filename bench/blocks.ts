import { AGREEMENT, maxRelativeError } from "../src/gpu-runner/networks/compare-outputs.ts";
import { OrtBackend } from "../src/gpu-runner/devices/ort/ort-backend.ts";
import type { Bench } from "./benches.ts";
import { type BlockCase, createBlock } from "../src/gpu-runner/device-suite/block-networks.ts";
import { runContest } from "./contest.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

const METRICS = { time: { unit: "ms", better: "lower" }, startup: { unit: "ms", better: "lower" } } as const;

const CASES: readonly { readonly name: string; readonly input: BlockCase }[] = [
  { name: "transformer block, 128 × 256, 8 heads", input: { block: "transformer" } },
  { name: "ResNet-18, 224²", input: { block: "resnet18" } },
  { name: "MobileNetV2, 224²", input: { block: "mobilenet" } },
  { name: "MiniLM-L6, 128 tokens", input: { block: "encoder" } },
];

/** Larger networks than the zoo's, with random weights: our kernels against ONNX Runtime's by WebGPU. */
export const benchBlocks: Bench = async function* benchBlocks(context) {
  const { device, environment } = await openAdapter();
  const contender = (name: string) =>
    inProcess<BlockCase>(new URL(`./blocks/${name}.ts`, import.meta.url), environment);
  const peers = { "ort-webgpu": contender("ort-webgpu") };
  yield* runContest({ metrics: METRICS, cases: CASES, device, ours: contender("wgsl"), peers, check }, context);
};

/** Throws where an output differs from that of ONNX Runtime's CPU provider. */
async function check(input: BlockCase, output: Float32Array): Promise<void> {
  const { file, inputs } = createBlock(input);
  const backend = new OrtBackend("cpu");
  await backend.load(input.block, file);
  const { tensors } = await backend.run(input.block, inputs);
  await backend.unload(input.block);
  const error = maxRelativeError(tensors, [
    { ...tensors[0]!, bytes: new Uint8Array(Float32Array.from(output).buffer) },
  ]);
  if (!(error <= AGREEMENT)) throw new Error(`it is off by ${error} of the largest`);
}
