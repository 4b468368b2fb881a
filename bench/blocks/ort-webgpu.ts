import { OrtBackend } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { Contender } from "../contest.ts";
import { createBlockEntry } from "./create-block-entry.ts";
import type { BlockCase } from "../../src/gpu-runner/device-suite/block-networks.ts";

/** It selects its adapter itself and does not report which. */
export const contender: Contender<BlockCase> = (input) => {
  const backend = new OrtBackend("webgpu");
  return createBlockEntry(
    input,
    async (file) => {
      await backend.load(input.block, file);
      return async (inputs) => (await backend.run(input.block, inputs)).tensors;
    },
    null,
  );
};
