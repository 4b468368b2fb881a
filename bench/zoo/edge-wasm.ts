import { readFile } from "node:fs/promises";
import { openDenseProgram } from "../../src/edge/inference/wasm/dense-program.ts";
import type { Contender } from "../contest.ts";
import { createZooEntry } from "./create-zoo-entry.ts";
import { readDense } from "./read-dense.ts";
import { readInputs, readNetwork, type ZooCase } from "../../models/zoo-case.ts";

/** The Worker's program as built into it. */
const PROGRAM = new URL("../../dist/edge-simd/dense-network.wasm", import.meta.url);

/** The Worker's program, in Node. */
export const contender: Contender<ZooCase> = async (input) => {
  const [file, inputs] = [await readNetwork(input), await readInputs(input)];
  const module = await WebAssembly.compile(await readFile(PROGRAM));
  return createZooEntry(async () => {
    const dense = readDense(file);
    if (!dense.ok) throw new Error(dense.message);
    const program = openDenseProgram(module, dense.network, "fp32");
    return async () => program.run(inputs[0]!.values, 1);
  }, null);
};
