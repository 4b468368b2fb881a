import { readFile } from "node:fs/promises";
import { zooFolder } from "./zoo.ts";
import { readHeldOut } from "../src/protocol/models/held-out-file.ts";
import type { Tensor } from "../src/protocol/wire/tensor.ts";

/** A network of the zoo with one row as its input. */
export interface ZooCase {
  readonly model: string;
}

/** A float32 input of one row. */
export interface ZooInput {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

export async function readNetwork({ model }: ZooCase): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(new URL(`${model}.onnx`, zooFolder(model))));
}

/** The first row of its held-out part. */
export async function readInputs({ model }: ZooCase): Promise<ZooInput[]> {
  const { inputs, rows } = readHeldOut(await readFile(new URL("held-out.safetensors", zooFolder(model))));
  return [...inputs].map(([name, { shape, values }]) => {
    return { name, shape: [1, ...shape.slice(1)], values: values.slice(0, values.length / rows) };
  });
}

/** The same as tensors of the product. */
export async function readTensors(input: ZooCase): Promise<Tensor[]> {
  return (await readInputs(input)).map(({ name, shape, values }) => {
    return { name, dtype: "float32", shape: [...shape], bytes: new Uint8Array(values.buffer) };
  });
}
