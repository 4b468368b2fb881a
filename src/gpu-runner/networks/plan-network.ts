import { countElements, type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";
import { type DType, DTYPE_BYTES } from "../../protocol/wire/tensor.ts";
import { expandModel } from "./lowering/expand-model.ts";
import { fuseGelu } from "./fuse-gelu.ts";
import { lowerNode } from "./lowering/lower-node.ts";
import { emitLevels } from "./lowering/lower-quantised.ts";
import { type Attention, findAttentions } from "./find-attention.ts";
import { Lowering, type PlannedOp } from "./lowering/lowering.ts";
import { KIND, type OpNumbers } from "./lowering/network-op.ts";
import { type Activation, type Region, unsupported } from "./lowering/network-value.ts";
import { lineOf, type Tile, tileOf, narrowTileOf } from "./tile-operators.ts";
import type { NarrowBits } from "../../../kernels/network/tiled-operators.ts";
import { narrowBitsOf } from "./lowering/weight-pool.ts";
import { findWholeProducts } from "../devices/ort/whole-products.ts";

/** Regions begin at a multiple of a vector of four words. */
const ALIGNED_WORDS = 4;

interface Life {
  readonly region: Region;
  /** First operator that writes it, and last that uses it. */
  readonly from: number;
  until: number;
}

/**
 * Assigns each region an offset in the arena. Regions in use at the same time do not overlap. The largest are placed
 * first, each in the first gap that is wide enough.
 */
function placeRegions(
  operators: readonly PlannedOp[],
  attentions: readonly Attention[],
): { offsets: Map<Region, number>; words: number } {
  const placed: { life: Life; offset: number }[] = [];
  let words = 0;
  const lives = livesOf(operators, attentions).toSorted((one, other) => other.region.words - one.region.words);
  for (const life of lives) {
    const beside = placed
      .filter(({ life: other }) => life.from <= other.until && other.from <= life.until)
      .toSorted((one, other) => one.offset - other.offset);
    let offset = 0;
    for (const other of beside) {
      if (offset + life.region.words <= other.offset) break;
      offset = Math.max(offset, align(other.offset + other.life.region.words));
    }
    placed.push({ life, offset });
    words = Math.max(words, align(offset + life.region.words));
  }
  return { offsets: new Map(placed.map(({ life, offset }) => [life.region, offset])), words };
}

function livesOf(operators: readonly PlannedOp[], attentions: readonly Attention[]): Life[] {
  const lives = new Map<Region, Life>();
  for (const [index, { input, other, factor, output, cells, firstCells, products, turned }] of operators.entries()) {
    for (const spot of [input, other, factor, output, cells, firstCells, products, turned]) {
      if (spot === undefined) continue;
      const life = lives.get(spot.region);
      if (life === undefined) lives.set(spot.region, { region: spot.region, from: index, until: index });
      else life.until = index;
    }
  }
  for (const { members, reads } of attentions) {
    for (const region of reads) {
      const life = lives.get(region)!;
      life.until = Math.max(life.until, members.at(-1)!);
    }
  }
  return [...lives.values()];
}

function align(words: number): number {
  return Math.ceil(words / ALIGNED_WORDS) * ALIGNED_WORDS;
}

/** Input or output of a network: words of one row; rows are contiguous. */
export interface NetworkEnd {
  readonly name: string;
  readonly dtype: Exclude<DType, "string">;
  /** Shape of one row; its first axis is the axis of rows, unless the network's sizes are fixed. */
  readonly shape: readonly number[];
  readonly words: number;
  /** Offset in words within a row: inputs come first, in the order of the file. */
  readonly before: number;
}

/** Operator in its final form for the kernels. */
export interface ReadyOp {
  readonly numbers: OpNumbers;
  readonly items: number;
  readonly work: number;
  /** Whether its lanes synchronise, which limits it to one workgroup per row. */
  readonly isSerial: boolean;
  /** How the catalogue can compute it; null where its form is another one. */
  readonly tile: Tile | null;
  /** How slices compute it in the arithmetic of its weights; null where they cannot. */
  readonly narrow: NarrowProduct | null;
  /** Elements of each of its lines, where lanes of a workgroup may share one; else 0. */
  readonly line: number;
  /** Of the last operator of an attention: how one step computes it. */
  readonly attention: AttentionStep | null;
}

/** A product of rounded rows: their bits, and whether it is the first that reads them. */
export interface NarrowProduct {
  readonly tile: Tile;
  readonly bits: NarrowBits;
  readonly isFirst: boolean;
}

/** Attention in one step. */
export interface AttentionStep extends Pick<Attention, "tiles" | "products"> {
  /** Operators that the step stands for, and that run by themselves where it is not taken. */
  readonly parts: readonly ReadyOp[];
}

/** Network in the form that the kernels run. */
export interface NetworkPlan {
  /** Whether no size is free: the network computes one set of inputs at a time, which counts as one row. */
  readonly isFixed: boolean;
  readonly inputs: readonly NetworkEnd[];
  readonly outputs: readonly NetworkEnd[];
  readonly operators: readonly ReadyOp[];
  /** Arena of one row. */
  readonly arenaWords: number;
  readonly endWords: number;
  readonly weights: Uint8Array<ArrayBuffer>;
}

/**
 * Turns a network into operators of the kernels: each row of a batch by itself, activations in one arena. Fails with
 * `invalid-model` for unsupported parts, with operator and reason.
 */
export function planNetwork(file: OnnxModel): NetworkPlan {
  const model = fuseGelu(expandModel(file));
  const [sparse] = model.sparseWeights?.keys() ?? [];
  if (sparse !== undefined) throw unsupported({ operator: "sparse weights", name: sparse }, "it reads dense ones only");
  const lowering = new Lowering(
    model,
    findWholeProducts(file).map(({ node }) => node),
  );
  const isFixed = model.inputs.every(({ shape }) => shape.every((size) => typeof size === "number"));
  const isRow = ({ rowAxis, shape }: Activation) => (isFixed ? rowAxis < 0 : rowAxis === 0 && shape[0] === 1);
  let before = 0;
  const end = (name: string, dtype: string, { shape }: Pick<Activation, "shape">): NetworkEnd => {
    const node = { name, operator: "its inputs and outputs" };
    if (!(dtype in DTYPE_BYTES)) throw unsupported(node, `they are ${dtype}`);
    const words = countElements(shape);
    before += words;
    return { name, dtype: dtype as NetworkEnd["dtype"], shape, words, before: before - words };
  };
  const inputs = model.inputs.map(({ name, dtype }) => {
    const input = lowering.reserve(endNode(name));
    if (!isRow(input)) throw unsupported(endNode(name), "its first axis is not that of the rows");
    const found = end(name, dtype, input);
    const numbers = { input: found.before, items: found.words };
    lowering.emit(endNode(name), { kind: "load", numbers, work: found.words }, input);
    return found;
  });
  for (const node of model.nodes) lowerNode(lowering, node);
  const outputs = model.outputs.map(({ name, dtype }) => {
    const kept = lowering.activationOf(endNode(name), 0);
    const isLevels = kept.grid !== undefined && !dtype.startsWith("float");
    const value = isLevels ? emitLevels(lowering, endNode(name), kept, kept.grid) : kept;
    if (!isRow(value)) throw unsupported(endNode(name), "its first axis is not that of the rows");
    const found = end(name, dtype, value);
    const numbers = { output: found.before, items: found.words };
    lowering.operators.push({ kind: "store", numbers, input: value, work: found.words });
    return found;
  });
  return { isFixed, inputs, outputs, ...makeReady(lowering), endWords: before, weights: lowering.weights.toBytes() };
}

/** An input or output of the network as a node of its own. */
function endNode(name: string): OnnxNode {
  return { name, operator: "the end", domain: "", inputs: [name], outputs: [name], attributes: new Map() };
}

function makeReady({ operators }: Lowering): Pick<NetworkPlan, "operators" | "arenaWords"> {
  const attentions = findAttentions(operators);
  const { offsets, words: arenaWords } = placeRegions(operators, attentions);
  const ofScores = new Set(attentions.flatMap((attention) => [...attention.ofScores]));
  const at = (spot: PlannedOp["input"]) => (spot === undefined ? undefined : offsets.get(spot.region)! + spot.offset);
  const rounded = new Set<Region>();
  const ready = operators.map(({ kind, numbers, work, ...spots }, index): ReadyOp => {
    const places = {
      input: at(spots.input),
      other: at(spots.other),
      weights: at(spots.factor),
      output: at(spots.output),
      d0: at(spots.turned),
      d1: at(spots.cells),
      d2: at(spots.firstCells),
      d3: at(spots.products),
    };
    const known = Object.fromEntries(Object.entries(places).filter(([, place]) => place !== undefined)) as OpNumbers;
    const all = { ...numbers, ...known, kind: KIND[kind], arena: arenaWords };
    const isSerial = kind === "gru" || kind === "lstm";
    const channels = ofScores.has(index) ? { channels: 1 } : {};
    const items = numbers["items"]!;
    const tile = tileOf(all, work);
    const narrowTile = narrowTileOf(all, work);
    const narrow = narrowTile && {
      tile: narrowTile,
      bits: narrowBitsOf(narrowTile.weights),
      isFirst: !rounded.has(spots.turned!.region),
    };
    if (narrow !== null) rounded.add(spots.turned!.region);
    return {
      numbers: { ...all, ...channels },
      items,
      work,
      isSerial,
      tile,
      narrow,
      line: lineOf(all),
      attention: null,
    };
  });
  for (const { members, tiles, products } of attentions) {
    const last = members.at(-1)!;
    const parts = members.map((member) => ready[member]!);
    ready[last] = { ...ready[last]!, attention: { parts, tiles, products } };
  }
  return { operators: ready, arenaWords };
}
