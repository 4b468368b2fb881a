import { cpus } from "node:os";
import { ZOO } from "../models/zoo.ts";
import { planNetwork } from "../src/gpu-runner/networks/plan-network.ts";
import { readModel } from "../src/onnx/read-model.ts";
import { ProblemError } from "../src/protocol/wire/problem.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { installPeers } from "./install-peers.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";
import { checkAnswer } from "./zoo/check-answer.ts";
import { readDense } from "./zoo/read-dense.ts";
import { createRow } from "./row.ts";
import { summariseZoo, type TimedRow } from "./zoo/summarise-zoo.ts";
import { readNetwork, type ZooCase } from "../models/zoo-case.ts";

const METRICS = {
  time: { unit: "ms", better: "lower" },
  startup: { unit: "ms", better: "lower" },
  memory: { unit: "MiB", better: "lower" },
} as const;

/** What a network itself needs: its weights, and the activations of one row in their arena. */
const HELD = { unit: "KiB", better: "lower", oursOnly: true } as const;
const KIB = 1_024;

const contender = (name: string, environment = {}) =>
  inProcess<ZooCase>(new URL(`./zoo/${name}.ts`, import.meta.url), environment);

/**
 * The networks of the zoo, a row at a time: each of the product's backends against a peer on the same device. Our
 * kernels against ONNX Runtime's by WebGPU; its CPU provider, with the settings of serving; and the edge's program
 * against its WebAssembly.
 */
export const benchZoo: Bench = async function* benchZoo(context) {
  await installPeers((text) => context.say(`${context.bench}: ${text}`));
  const { device: gpu, environment } = await openAdapter();
  const cpu = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const models = ZOO.map(({ name }) => name);
  const wasm = { device: cpu, peers: { "ort-web-wasm": contender("ort-web-wasm") } };
  const webgpu = { device: gpu, peers: { "ort-webgpu": contender("ort-webgpu", environment) } };
  const timed: TimedRow[] = [];
  for (const { backend, refuses, device, peers } of [
    { backend: "wgsl", refuses: refusesAsKernels, ...webgpu },
    { backend: "ort-cpu", refuses: () => null, ...wasm },
    { backend: "edge-wasm", refuses: refusesAtEdge, ...wasm },
  ]) {
    const ours = contender(backend, device === gpu ? environment : {});
    for (const model of models) {
      const reason = refuses(await readNetwork({ model }));
      if (reason !== null) context.say(`${context.bench} ${model}: not for ${backend}, it ${reason}`);
      if (reason !== null) continue;
      const cases = [{ name: `${model} ${backend}`, input: { model } }];
      const contest = { metrics: METRICS, cases, device, ours, peers, check: checkAnswer };
      if (backend === "wgsl") {
        const { weights, arenaWords } = planNetwork(readModel(await readNetwork({ model })));
        const held = (weights.byteLength + 4 * arenaWords) / KIB;
        const about = { bench: context.bench, case: `${model} wgsl`, rounds: context.rounds };
        yield createRow({ ...about, device: device.name, software: device.software }, ["held", HELD], [held], null);
      }
      for await (const row of runContest<ZooCase>(contest, context)) {
        if (row.metric === "time") timed.push({ model, row });
        yield row;
      }
    }
  }
  const { bench, rounds } = context;
  const devices = { device: `${gpu.name}; ${cpu.name}`, software: gpu.software };
  yield* summariseZoo({ bench, rounds, ...devices }, timed, ["ort-webgpu"]);
};

/** Reason why our kernels do not compute a network. */
function refusesAsKernels(file: Uint8Array): string | null {
  try {
    planNetwork(readModel(file));
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.detail;
    throw error;
  }
}

function refusesAtEdge(file: Uint8Array): string | null {
  const dense = readDense(file);
  return dense.ok ? null : dense.message;
}
