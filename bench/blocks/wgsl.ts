import { openNetwork } from "../../src/gpu-runner/networks/open-network.ts";
import type { Contender } from "../contest.ts";
import { openOwnGpu } from "../own-gpu.ts";
import { createBlockEntry } from "./create-block-entry.ts";
import type { BlockCase } from "../../src/gpu-runner/device-suite/block-networks.ts";

/** The product's own kernels; `startup` includes the choice of a layout. */
export const contender: Contender<BlockCase> = async (input) => {
  const own = await openOwnGpu();
  const { vendor, architecture, device } = own.gpu.adapter.info;
  const adapter = [vendor, architecture, device].filter(Boolean).join(" ");
  let note = "";
  const entry = await createBlockEntry(
    input,
    async (file) => {
      const network = await openNetwork(own, file);
      note = JSON.stringify(network.layout);
      return async (inputs) => (await network.run(inputs)).tensors;
    },
    adapter,
  );
  return { ...entry, opened: { ...entry.opened, note } };
};
