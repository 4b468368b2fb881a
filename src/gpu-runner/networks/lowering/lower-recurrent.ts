import { floatOf, intOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { emitDenseInto } from "./lower-dense.ts";
import { emitWalk } from "./lower-movement.ts";
import type { Lowering, Spot } from "./lowering.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";

/** Gates per unit, by operator. */
const GATES: Readonly<Record<string, number>> = { GRU: 3, LSTM: 4 };

/**
 * `GRU` and `LSTM` in one direction or both: one product for the inputs of all steps, then the steps in turn. Inputs
 * are steps × rows × features, as in ONNX.
 */
export function lowerRecurrent(lowering: Lowering, node: OnnxNode): void {
  refuseOddities(node);
  const input = lowering.activationOf(node, 0);
  const weights = lowering.constantOf(node, 1);
  const directions = weights.shape[0]!;
  const units = intOf(node, "hidden_size", weights.shape[1]! / GATES[node.operator]!);
  const steps = input.shape[0]!;
  if (input.shape[1] !== 1 || (input.rowAxis !== 1 && input.rowAxis >= 0))
    throw unsupported(node, "its rows are not along its second axis");
  const region = { words: steps * directions * units };
  const output: Activation = {
    kind: "activation",
    shape: [steps, directions, 1, units],
    rowAxis: input.rowAxis < 0 ? -1 : 2,
    region,
    offset: 0,
  };
  const cells = node.operator === "LSTM" ? { region: { words: directions * units }, offset: 0 } : undefined;
  for (let direction = 0; direction < directions; direction++) {
    const isReversed = directions === 2 ? direction === 1 : textOf(node, "direction", "forward") === "reverse";
    emitDirection(lowering, node, { input, output, cells, units, steps, directions, direction, isReversed });
  }
  if (node.outputs[0]) lowering.define(node.outputs[0], output);
  defineLast(lowering, node, { output, cells, units, steps, directions });
}

function refuseOddities(node: OnnxNode): void {
  const has = (input: number) => Boolean(node.inputs[input]);
  if (has(4)) throw unsupported(node, "its sequences have lengths");
  if (has(7)) throw unsupported(node, "it has peepholes");
  if (["activations", "clip"].some((name) => node.attributes.has(name))) {
    throw unsupported(node, "it has activations of its own");
  }
  if (intOf(node, "layout", 0) !== 0 || intOf(node, "input_forget", 0) !== 0) {
    throw unsupported(node, "its layout is another");
  }
  if (node.operator === "GRU" && intOf(node, "linear_before_reset", 0) === 0) {
    throw unsupported(node, "its reset gate is applied before the product");
  }
  if (floatOf(node, "clip", 0) !== 0) throw unsupported(node, "it clips");
}

interface Direction {
  readonly input: Activation;
  readonly output: Activation;
  readonly cells: Spot | undefined;
  readonly units: number;
  readonly steps: number;
  readonly directions: number;
  readonly direction: number;
  readonly isReversed: boolean;
}

function emitDirection(lowering: Lowering, node: OnnxNode, each: Direction): void {
  const { input, output, cells, units, steps, directions, direction, isReversed } = each;
  const [weights, products] = [1, 2].map((at) => sliceOf(lowering.constantOf(node, at), direction));
  const filters = GATES[node.operator]! * units;
  const bias = lowering.optionalConstant(node, 3) && sliceOf(lowering.constantOf(node, 3), direction).floats;
  const gates: Activation = { ...input, shape: [steps, 1, filters], region: { words: steps * filters }, offset: 0 };
  const inputs = weights!.shape[1]!;
  const ofInputs = { weights: weights!, inputs, outputs: filters, isTransposed: true };
  const first = bias && { bias: [...bias.subarray(0, filters)] };
  emitDenseInto(lowering, input, gates, { ...ofInputs, ...first }, (op) => {
    lowering.operators.push({ ...op, output: gates });
  });
  const at = (filter: number, unit: number) => filter * units + unit;
  const placed = lowering.weights.putMatrix(products!, { outputs: filters, inputs: units, at }, "channels");
  const second = bias ? lowering.weights.putFloats(bias.subarray(filters)) : -1;
  const numbers = { ...placed, bias: second, channels: units, filters, rows: steps, d0: directions * units };
  lowering.operators.push({
    kind: node.operator === "GRU" ? "gru" : "lstm",
    numbers: { ...numbers, which: isReversed ? 1 : 0, items: units },
    input: gates,
    output: { region: output.region, offset: direction * units },
    products: { region: { words: Math.ceil(filters / 4) * 4 }, offset: 0 },
    ...beginning(lowering, node, { input: 5, key: "other", at: direction * units }),
    ...(cells && { cells: { region: cells.region, offset: direction * units } }),
    ...(cells && beginning(lowering, node, { input: 6, key: "firstCells", at: direction * units })),
    work: steps * filters * units,
  });
}

/** Initial state that is given; none for zeros, which layers use by default. */
function beginning(
  lowering: Lowering,
  node: OnnxNode,
  { input, key, at }: { readonly input: number; readonly key: "other" | "firstCells"; readonly at: number },
): Partial<Record<"other" | "firstCells", Spot>> {
  if (!node.inputs[input]) return {};
  const value = lowering.valueOf(node, input);
  if (value.kind === "activation") return { [key]: { region: value.region, offset: value.offset + at } };
  if (value.floats.some((each) => each !== 0)) throw unsupported(node, "its initial state is a constant");
  return {};
}

/** Further outputs: the last states and the last cells. */
function defineLast(
  lowering: Lowering,
  node: OnnxNode,
  { output, cells, units, steps, directions }: Omit<Direction, "input" | "direction" | "isReversed">,
): void {
  if (node.outputs[1]) {
    const states = lowering.reserve(node, 1);
    const isReversed = textOf(node, "direction", "forward") === "reverse";
    const lastOf = (direction: number) => (isReversed || direction === 1 ? 0 : (steps - 1) * directions * units);
    if (directions === 1) {
      lowering.define(node.outputs[1], { ...states, region: output.region, offset: lastOf(0) });
    } else {
      for (const direction of [0, 1]) {
        const from = { ...output, offset: lastOf(direction) + direction * units };
        const named = { ...node, outputs: [node.outputs[1]] };
        emitWalk(lowering, named, from, [{ size: units, a: 1, b: 0, out: 1 }], states, direction * units);
      }
    }
  }
  if (node.outputs[2] && cells !== undefined) {
    lowering.define(node.outputs[2], { ...lowering.reserve(node, 2), region: cells.region, offset: 0 });
  }
}

/** Weights of one direction, from a constant with an axis of directions. */
function sliceOf({ shape, floats, grain }: Constant, direction: number): Constant {
  const size = floats.length / shape[0]!;
  const range = [direction * size, (direction + 1) * size] as const;
  const part: Constant = { kind: "constant", shape: shape.slice(1), floats: floats.subarray(...range) };
  if (grain === undefined) return part;
  if (grain.bits === 16) return { ...part, grain };
  const { levels, scales } = grain;
  return { ...part, grain: { ...grain, levels: levels.subarray(...range), scales: scales.subarray(...range) } };
}
