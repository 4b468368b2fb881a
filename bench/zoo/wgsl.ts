import { openNetwork } from "../../src/gpu-runner/networks/open-network.ts";
import { typedView } from "../../src/protocol/wire/tensor.ts";
import type { Contender } from "../contest.ts";
import { openOwnGpu } from "../own-gpu.ts";
import { createZooEntry } from "./create-zoo-entry.ts";
import { readNetwork, readTensors, type ZooCase } from "../../models/zoo-case.ts";

/** The product's own kernels; `startup` includes the choice of a layout. */
export const contender: Contender<ZooCase> = async (input) => {
  const own = await openOwnGpu();
  const [file, tensors] = [await readNetwork(input), await readTensors(input)];
  const { vendor, architecture, device } = own.gpu.adapter.info;
  return createZooEntry(async () => {
    const network = await openNetwork(own, file);
    return async () => typedView((await network.run(tensors)).tensors[0]!) as Float32Array;
  }, [vendor, architecture, device].filter(Boolean).join(" "));
};
