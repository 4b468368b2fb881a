import { expect, test } from "vitest";
import type { OnnxDtype, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../src/onnx/onnx-model.ts";
import { integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { openAdapters } from "../open-adapters.ts";
import { expectClose, network, node, ORT, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const [WORDS, WIDTH, HEADS] = [11, 8, 2];

const value = (name: string, shape: readonly (number | string)[], dtype: OnnxDtype = "float32"): OnnxValue => ({
  name,
  dtype,
  shape,
});
const words = (list: readonly number[]): Tensor => ({
  name: "words",
  dtype: "int64",
  shape: [1, list.length],
  bytes: new Uint8Array(BigInt64Array.from(list, BigInt).buffer),
});
const zeros = (name: string, shape: readonly number[]): Tensor => ({
  name,
  dtype: "float32",
  shape: [...shape],
  bytes: new Uint8Array(4 * shape.reduce((product, size) => product * size, 1)),
});

/** A decoder of one layer: queries, keys and values of embedded words, `attend`, and a score for each word. */
function decoder(
  attend: readonly OnnxNode[],
  inputs: readonly OnnxValue[],
  outputs: readonly OnnxValue[],
  tensors: readonly OnnxTensor[] = [],
): OnnxModel {
  const nodes = [
    node("Gather", ["table", "words"], ["x"]),
    ...["q", "k", "v"].flatMap((name) => [
      node("MatMul", ["x", `w${name}`], [`${name}m`]),
      node("Reshape", [`${name}m`, "heads"], [`${name}r`]),
      node("Transpose", [`${name}r`], [name], { perm: [0, 2, 1, 3] }),
    ]),
    ...attend,
    node("Transpose", ["a"], ["at"], { perm: [0, 2, 1, 3] }),
    node("Reshape", ["at", "flat"], ["af"]),
    node("Add", ["af", "x"], ["r"]),
    node("MatMul", ["r", "out"], ["scores"]),
  ];
  const parameters = [
    weights("table", [WORDS, WIDTH]),
    ...["q", "k", "v"].map((name, index) => weights(`w${name}`, [WIDTH, WIDTH], 2 + index)),
    weights("out", [WIDTH, WORDS], 5),
    integerTensor("heads", [0, 0, HEADS, WIDTH / HEADS]),
    integerTensor("flat", [0, 0, -1]),
  ];
  return { ...network(nodes, { x: [], y: [], opset: 24, tensors: [...parameters, ...tensors] }), inputs, outputs };
}

/** Runs both, compares all outputs, and gives ours by name. */
async function answer(inputs: readonly Tensor[]): Promise<Map<string, Tensor>[]> {
  const { tensors: expected } = await ORT.run("decoder", inputs);
  return Promise.all(
    (await openAdapters()).map(async (adapter) => {
      const { tensors } = await adapter.infer("decoder", inputs, { requestId: "req" });
      expect(tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(
        expected.map(({ name, shape }) => ({ name, shape })),
      );
      for (const [index, tensor] of tensors.entries()) expectClose(tensor, expected[index]!);
      return new Map(tensors.map((tensor) => [tensor.name, tensor]));
    }),
  );
}

async function load(model: OnnxModel): Promise<void> {
  const file = writeModel(model);
  await ORT.load("decoder", file);
  for (const adapter of await openAdapters()) await adapter.loadModel({ modelKey: "decoder", read: async () => file });
}

/** The likeliest word after the last one. */
function nextWord(scores: Tensor): number {
  const last = Array.from(typedView(scores) as Float32Array).slice(-WORDS);
  return last.indexOf(Math.max(...last));
}

test("a decoder whose cache grows from nothing", { timeout: TIMEOUT_MS }, async () => {
  const cache = ["batch", HEADS, "past", WIDTH / HEADS];
  const grown = ["batch", HEADS, "total", WIDTH / HEADS];
  await load(
    decoder(
      [
        node("Concat", ["pk", "k"], ["nk"], { axis: 2 }),
        node("Concat", ["pv", "v"], ["nv"], { axis: 2 }),
        node("Attention", ["q", "nk", "nv", "mask"], ["a"]),
      ],
      [
        value("words", ["batch", "length"], "int64"),
        value("pk", cache),
        value("pv", cache),
        value("mask", ["length", "total"]),
      ],
      [value("scores", ["batch", "length", WORDS]), value("nk", grown), value("nv", grown)],
    ),
  );
  const said = [3, 1, 4];
  let [keys, values] = ["pk", "pv"].map((name) => zeros(name, [1, HEADS, 0, WIDTH / HEADS])) as [Tensor, Tensor];
  for (let step = 0; step < 3; step++) {
    const begun = keys.shape[2]!;
    const [length, total] = [said.length - begun, said.length];
    const mask = Float32Array.from({ length: length * total }, (_, at) =>
      at % total <= begun + Math.floor(at / total) ? 0 : -1e9,
    );
    const masked = { ...zeros("mask", [length, total]), bytes: new Uint8Array(mask.buffer) };
    const [found] = await answer([words(said.slice(begun)), keys, values, masked]);
    [keys, values] = [
      { ...found!.get("nk")!, name: "pk" },
      { ...found!.get("nv")!, name: "pv" },
    ];
    said.push(nextWord(found!.get("scores")!));
  }
  expect(keys.shape[2]).toBe(5);
});

test("a decoder with a cache of fixed size, written from a place on", { timeout: TIMEOUT_MS }, async () => {
  const places = 6;
  const cache = ["batch", HEADS, places, WIDTH / HEADS];
  await load(
    decoder(
      [
        node("TensorScatter", ["pk", "k", "place"], ["nk"]),
        node("TensorScatter", ["pv", "v", "place"], ["nv"]),
        node("Add", ["place", "one"], ["used"]),
        node("Attention", ["q", "nk", "nv", "", "", "", "used"], ["a"]),
      ],
      [
        value("words", ["batch", 1], "int64"),
        value("place", ["batch"], "int64"),
        value("pk", cache),
        value("pv", cache),
      ],
      [value("scores", ["batch", 1, WORDS]), value("nk", cache), value("nv", cache)],
      [integerTensor("one", [1])],
    ),
  );
  let word = 3;
  let [keys, values] = ["pk", "pv"].map((name) => zeros(name, [1, HEADS, places, WIDTH / HEADS])) as [Tensor, Tensor];
  for (let step = 0; step < 3; step++) {
    const at = { ...words([step]), name: "place", shape: [1] };
    const [found] = await answer([words([word]), at, keys, values]);
    [keys, values] = [
      { ...found!.get("nk")!, name: "pk" },
      { ...found!.get("nv")!, name: "pv" },
    ];
    word = nextWord(found!.get("scores")!);
  }
  expect(values.shape).toEqual([1, HEADS, places, WIDTH / HEADS]);
});
