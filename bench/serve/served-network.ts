import { readFile } from "node:fs/promises";
import { readZooCard } from "../../models/model-card.ts";
import { zooFolder } from "../../models/zoo.ts";
import { createBlock } from "../../src/gpu-runner/device-suite/block-networks.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";

/** Network that all servers have, one row for it, and the deadline of a request from its scheduled arrival. */
export interface ServedNetwork {
  readonly name: string;
  readonly file: Uint8Array<ArrayBuffer>;
  readonly input: Tensor;
  readonly deadlineMs: number;
}

export const NETWORKS = ["lenet5", "resnet8", "dncnn5", "transformer"] as const;
export type NetworkName = (typeof NETWORKS)[number];

const DEADLINES_MS: Readonly<Record<NetworkName, number>> = {
  lenet5: 20,
  resnet8: 50,
  dncnn5: 50,
  transformer: 250,
};

/** One of the zoo, or a transformer's block (128 tokens, width 256, 8 heads) with random weights. */
export async function readNetwork(name: NetworkName): Promise<ServedNetwork> {
  const deadlineMs = DEADLINES_MS[name];
  if (name === "transformer") {
    const { file, inputs } = createBlock({ block: name });
    return { name, file, input: inputs[0]!, deadlineMs };
  }
  const { file, inputs } = readZooCard(zooFolder(name));
  const content = new Uint8Array(await readFile(new URL(file.name, zooFolder(name))));
  return { name, file: content, input: createSeededInputs(inputs, 0)[0]!, deadlineMs };
}
