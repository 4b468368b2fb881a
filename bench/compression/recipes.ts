import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { zooFolder } from "../../models/zoo.ts";
import { applyRecipe } from "../../src/gpu-runner/compression/variants/apply-recipe.ts";
import { findRanges, type NetworkOpener, openByOrt } from "../../src/gpu-runner/compression/variants/ask-network.ts";
import { heldOutQuestions, splitRows, takeRows } from "../../src/gpu-runner/compression/variants/question-source.ts";
import { OrtBackend } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { OnnxModel } from "../../src/onnx/onnx-model.ts";
import { readModel } from "../../src/onnx/read-model.ts";
import { writeModel } from "../../src/onnx/write-model.ts";
import { type HeldOut, readHeldOut } from "../../src/protocol/models/held-out-file.ts";
import type { TensorSpec } from "../../src/protocol/models/model.ts";
import { Recipe } from "../../src/protocol/models/variant.ts";
import { countElements, type Tensor, typedView } from "../../src/protocol/wire/tensor.ts";
import { sfc32 } from "../../src/stats/random/seeded.ts";
import { createBlock } from "../../src/gpu-runner/device-suite/block-networks.ts";
import type { PythonProgram } from "../python-program.ts";

/** A network with data: rows on which static quantisation finds its ranges are not measured on. */
export interface CompressedNetwork {
  readonly name: string;
  readonly model: OnnxModel;
  readonly file: Uint8Array<ArrayBuffer>;
  readonly inputs: TensorSpec[];
  readonly heldOut: HeldOut;
  readonly isOfData: boolean;
}

/** Recipes of the product, each with the method of ONNX Runtime's tools that does the same. */
export const RECIPES = {
  "int8-dynamic": Recipe.parse({ method: "int8", activations: "dynamic" }),
  "int8-static": Recipe.parse({ method: "int8", activations: "static" }),
  int4: Recipe.parse({ method: "int4", blockSize: 32 }),
} as const;
export type RecipeName = keyof typeof RECIPES;

const BLOCK_ROWS = 64;
const SEED = 1;
/** The same rows are seen and measured for every recipe. */
const SPLIT = RECIPES["int8-static"];

export async function readZooNetwork(name: string): Promise<CompressedNetwork> {
  const folder = zooFolder(name);
  const file = new Uint8Array(await readFile(new URL(`${name}.onnx`, folder)));
  const heldOut = readHeldOut(await readFile(new URL("held-out.safetensors", folder)));
  return describe(name, file, heldOut, true);
}

/** The transformer block, on seeded tokens that are uniform in −2 … 2. */
export function readBlock(): CompressedNetwork {
  const next = sfc32(SEED);
  const { file, inputs } = createBlock({ block: "transformer" });
  const shape = inputs[0]!.shape.with(0, BLOCK_ROWS);
  const values = Float32Array.from({ length: countElements(shape) }, () => next(2 ** 31) / 2 ** 29 - 2);
  const x = { shape, values };
  const heldOut = { rows: BLOCK_ROWS, inputs: new Map([["x", x]]) } as unknown as HeldOut;
  return describe("transformer-block", file, heldOut, false);
}

function describe(name: string, file: Uint8Array<ArrayBuffer>, heldOut: HeldOut, isOfData: boolean): CompressedNetwork {
  const model = readModel(file);
  const inputs = model.inputs.map(({ name: input, shape }) => {
    return {
      name: input,
      dtype: "float32" as const,
      shape: shape.map((size) => (typeof size === "number" ? size : -1)),
    };
  });
  return { name, model, file, inputs, heldOut, isOfData };
}

export const rowsOf = ({ heldOut }: CompressedNetwork) => splitRows(heldOut.rows, SPLIT);

/** Our variant, and how ONNX Runtime opens it with the settings of serving. */
export const openOurs: NetworkOpener = openByOrt(new OrtBackend("cpu"));

/** A file as ONNX Runtime opens it by default, on one thread. */
export const openPlain: NetworkOpener = async (file) => {
  const session = await InferenceSession.create(file, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  return {
    async ask(inputs) {
      const feeds = inputs.map((tensor) => [
        tensor.name,
        new OrtTensor("float32", typedView(tensor) as Float32Array, tensor.shape),
      ]);
      const found = await session.run(Object.fromEntries(feeds) as Record<string, OrtTensor>);
      return session.outputNames.map((output) => toTensor(output, found[output]!));
    },
    close: () => session.release(),
  };
};

function toTensor(name: string, { data, dims }: OrtTensor): Tensor {
  const { buffer, byteOffset, byteLength } = data as Float32Array<ArrayBuffer>;
  return { name, dtype: "float32", shape: [...dims], bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** Makes our variant as a compression does. */
export async function makeOurs(network: CompressedNetwork, recipe: RecipeName): Promise<Uint8Array> {
  const source = heldOutQuestions(network.heldOut, network.inputs, rowsOf(network).seen);
  const nothing = () => Promise.reject(new Error("the recipe needs it not"));
  const { model } = await applyRecipe(network.model, RECIPES[recipe], {
    findRanges: (wanted) => findRanges(wanted, source, openOurs, new AbortController().signal),
    judge: nothing,
    collectLessons: nothing,
    onEpoch: () => {},
  });
  return writeModel(model);
}

/** Makes the variant of ONNX Runtime's tools on the same rows. */
export async function makeTheirs(
  { file, heldOut, ...network }: CompressedNetwork,
  recipe: RecipeName,
  { ask }: PythonProgram,
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-quantise-"));
  try {
    const [given, out] = [join(folder, "given.onnx"), join(folder, "out.onnx")];
    await writeFile(given, file);
    const rows: { name: string; file: string; shape: readonly number[] }[] = [];
    const { seen } = rowsOf({ file, heldOut, ...network });
    for (const [index, [name, tensor]] of [...heldOut.inputs].entries()) {
      const taken = takeRows(tensor, seen);
      rows.push({ name, file: join(folder, `${index}.f32`), shape: taken.shape });
      await writeFile(rows.at(-1)!.file, new Uint8Array(taken.values.buffer));
    }
    const reply = (await ask({ file: given, out, method: recipe, rows })) as { reason?: string };
    if (reply.reason !== undefined) throw new Error(reply.reason);
    return await readFile(out);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
