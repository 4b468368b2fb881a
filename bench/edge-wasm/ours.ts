import { readFile } from "node:fs/promises";
import { readDenseNetwork } from "../../src/edge/models/read-dense-network.ts";
import { openDenseProgram } from "../../src/edge/inference/wasm/dense-program.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputOf, type MlpCase, specsOf, writeModel } from "./mlp-case.ts";
import { runsOf } from "./runs-of.ts";

/** The Worker's program as built into it. */
const PROGRAM = new URL("../../dist/edge-simd/dense-network.wasm", import.meta.url);

/** The Worker's program, in Node. */
export const contender: Contender<MlpCase> = async (input) => {
  const dense = readDenseNetwork(writeModel(input), specsOf(input));
  if (!dense.ok) throw new Error(dense.message);
  const module = await WebAssembly.compile(await readFile(PROGRAM));
  const program = openDenseProgram(module, dense.network, input.precision);
  const row = inputOf(input);
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) program.run(row, 1);
    return program.run(row, 1);
  };
  return createBatchEntry(run, runsOf(input), { adapter: null, note: `${program.sizeBytes} bytes` });
};
