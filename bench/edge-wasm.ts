import { cpus } from "node:os";
import type { Precision } from "../src/edge/inference/wasm/dense-program.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { inWorkerd } from "./edge-wasm/in-workerd.ts";
import { checkOutput, type MlpCase } from "./edge-wasm/mlp-case.ts";
import { startStack } from "./hop/start-stack.ts";
import { installPeers } from "./install-peers.ts";
import { inProcess } from "./process-contender.ts";

const OURS = new URL("./edge-wasm/ours.ts", import.meta.url);
const ORT_WEB = new URL("./edge-wasm/ort-web-wasm.ts", import.meta.url);

/** Networks by their number of parameters. */
const NETWORKS: Readonly<Record<string, readonly number[]>> = {
  "5 K": [8, 64, 64, 4],
  "10 K": [16, 88, 88, 8],
  "30 K": [32, 150, 150, 8],
  "100 K": [64, 280, 280, 8],
  "300 K": [64, 512, 512, 8],
  "1 M": [128, 932, 932, 16],
};

const METRICS = { time: { unit: "ms", better: "lower" } } as const;

/**
 * Dense networks as the Worker computes them, one row at a time: its program in Node, with weights of four bytes and of
 * one, and the Worker itself, against ONNX Runtime's WebAssembly in Node.
 */
export const benchEdgeWasm: Bench = async function* benchEdgeWasm(context) {
  const say = (text: string) => context.say(`${context.bench}: ${text}`);
  await installPeers(say);
  const stack = await startStack(say);
  try {
    const device = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
    const shared = { metrics: METRICS, device, peers: { "ort-web-wasm": inProcess<MlpCase>(ORT_WEB, {}) } };
    const cases = (where: string, precision: Precision) =>
      Object.entries(NETWORKS).map(([name, widths]) => ({
        name: `${where} ${precision} ${name}`,
        input: { widths, precision },
      }));
    for (const precision of ["fp32", "int8"] as const) {
      const ours = inProcess<MlpCase>(OURS, {});
      yield* runContest({ ...shared, cases: cases("node", precision), ours, check: checkOutput }, context);
    }
    const ours = inWorkerd(stack);
    yield* runContest({ ...shared, cases: cases("workerd", "fp32"), ours, check: checkOutput }, context);
    // The edge has no one-byte weights of the smaller networks.
    const large = cases("workerd", "int8").filter(({ input }) => (input.widths[1] ?? 0) >= 150);
    yield* runContest({ ...shared, cases: large, ours, check: checkOutput }, context);
  } finally {
    await stack.stop();
  }
};
