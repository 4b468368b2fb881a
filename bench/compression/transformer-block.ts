import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../src/onnx/tensor-values.ts";
import { sfc32 } from "../../src/stats/random/seeded.ts";

const [IR_VERSION, OPSET] = [8, 17];
const [WIDTH, HEADS, TOKENS, HIDDEN] = [256, 8, 128, 1024];
export const TOKEN_SHAPE = [TOKENS, WIDTH] as const;

/**
 * Pre-norm transformer block, x[rows, 128, 256] → y of the same shape: attention of 8 heads, then a feed-forward part of
 * 1,024 units with GELU by its tanh formula. Weights are uniform with variance 1 / inputs, drawn by the seed.
 */
export function writeTransformerBlock(seed: number): OnnxModel {
  const draw = sfc32(seed);
  const nodes: OnnxNode[] = [];
  const weights = new Map<string, OnnxTensor>();
  const keep = (tensor: OnnxTensor): string => {
    weights.set(tensor.name, tensor);
    return tensor.name;
  };
  const uniform = (name: string, dims: readonly number[], bound: number): string => {
    const count = dims.reduce((product, size) => product * size, 1);
    const values = Float32Array.from({ length: count }, () => (draw(2 ** 31) / 2 ** 30 - 1) * bound);
    return keep(floatTensor(name, dims, values));
  };
  const scalar = (name: string, value: number) => keep(floatTensor(name, [], Float32Array.of(value)));
  const add = (
    operator: string,
    inputs: readonly string[],
    output: string,
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string => {
    const map = new Map(Object.entries(attributes));
    nodes.push({ name: output, operator, domain: "", inputs, outputs: [output], attributes: map });
    return output;
  };
  const linear = (input: string, name: string, from: number, to: number): string => {
    const product = add("MatMul", [input, uniform(`${name}_w`, [from, to], Math.sqrt(3 / from))], `${name}_product`);
    return add("Add", [product, uniform(`${name}_b`, [to], 0.1)], name);
  };
  const normalise = (input: string, name: string): string => {
    const gain = keep(floatTensor(`${name}_gain`, [WIDTH], new Float32Array(WIDTH).fill(1)));
    const shift = keep(floatTensor(`${name}_shift`, [WIDTH], new Float32Array(WIDTH)));
    return add("LayerNormalization", [input, gain, shift], name, { axis: { kind: "int", value: -1 } });
  };
  const permute = (input: string, name: string, perm: readonly number[]): string =>
    add("Transpose", [input], name, { perm: { kind: "ints", value: perm } });
  const bySequence = keep(integerTensor("by_head", [0, TOKENS, HEADS, WIDTH / HEADS]));
  const heads = (input: string, name: string, perm: readonly number[]): string =>
    permute(add("Reshape", [input, bySequence], `${name}_split`), name, perm);

  const before = normalise("x", "norm1");
  const query = heads(linear(before, "query", WIDTH, WIDTH), "queries", [0, 2, 1, 3]);
  const key = heads(linear(before, "key", WIDTH, WIDTH), "keys", [0, 2, 3, 1]);
  const value = heads(linear(before, "value", WIDTH, WIDTH), "values", [0, 2, 1, 3]);
  const scores = add(
    "Mul",
    [add("MatMul", [query, key], "raw_scores"), scalar("scale", (WIDTH / HEADS) ** -0.5)],
    "scores",
  );
  const shares = add("Softmax", [scores], "shares", { axis: { kind: "int", value: -1 } });
  const mixed = permute(add("MatMul", [shares, value], "mixed_heads"), "mixed_tokens", [0, 2, 1, 3]);
  const joined = add("Reshape", [mixed, keep(integerTensor("joined", [0, TOKENS, WIDTH]))], "mixed");
  const attended = add("Add", ["x", linear(joined, "attention", WIDTH, WIDTH)], "attended");

  const hidden = linear(normalise(attended, "norm2"), "hidden", WIDTH, HIDDEN);
  const cube = add("Mul", [add("Mul", [hidden, hidden], "square"), hidden], "cube");
  const inner = add("Add", [hidden, add("Mul", [cube, scalar("cubic", 0.044715)], "cubic_part")], "inner");
  const bent = add("Tanh", [add("Mul", [inner, scalar("root", Math.sqrt(2 / Math.PI))], "inner_scaled")], "bent");
  const gate = add("Mul", [add("Add", [bent, scalar("one", 1)], "gate_two"), scalar("half", 0.5)], "gate");
  const active = add("Mul", [hidden, gate], "active");
  add("Add", [attended, linear(active, "output", HIDDEN, WIDTH)], "y");

  const shape = ["rows", ...TOKEN_SHAPE];
  const ends = (name: string) => [{ name, dtype: "float32" as const, shape }];
  const model = { irVersion: IR_VERSION, opset: OPSET, domains: new Map<string, number>(), name: "transformer-block" };
  return { ...model, nodes, weights, inputs: ends("x"), outputs: ends("y") };
}
