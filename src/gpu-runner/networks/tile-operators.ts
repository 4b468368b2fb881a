import type { NarrowBits, TiledKind } from "../../../kernels/network/tiled-operators.ts";
import { MAX_GROUPS } from "../../../kernels/webgpu-limits.ts";
import { KIND, type OpNumbers, writeWalk } from "./lowering/network-op.ts";

/** A product or convolution as the catalogue's tiled products compute it. */
export interface Tile {
  readonly kind: TiledKind;
  /** Size and number of the matrices that it writes, for one row of a batch. */
  readonly rows: number;
  readonly columns: number;
  readonly products: number;
  /** Length of the sums. */
  readonly depth: number;
  /** Whether it has the work and the rows that large tiles need; others are for slices alone. */
  readonly isHeavy: boolean;
  /** Whether the rows of its output, and of what is added to it, are whole vectors of four. */
  readonly isAligned: boolean;
  /** Type of its weights as `weightType` has it, and whether blocks of inputs have scales of their own. */
  readonly weights: number;
  readonly hasBlocks: boolean;
  /** Copy that lays the channels of a picture together, for tiles in registers. */
  readonly turn?: OpNumbers;
  /** Whether the channels of that copy do not fill their last vector of four. */
  readonly hasRest?: boolean;
}

/**
 * Multiplications from which a program of its own may pay. A software device compiles it for a second or more, and gains
 * less than a millisecond below this.
 */
const HEAVY = 2_000_000;
/** Rows of the smallest tile. */
const TILE_ROWS = 8;

/** Elements from which a line may be worth a workgroup: shorter ones leave most of its lanes idle. */
const LONG_LINE = 32;
const LINES: ReadonlySet<number> = new Set([KIND.softmax, KIND.normalise, KIND.reduce, KIND.reduceSeldom]);
/** The one reduction in kernels/network/seldom.wgsl whose lanes do not meet: products of all elements. */
const MULTIPLIED = 8;

/** Elements of an operator's lines where lanes of a workgroup may share one; else 0. */
export function lineOf(numbers: OpNumbers): number {
  const { kind = -1, which, d3 = 1, d4 = 1, d5 = 1 } = numbers;
  const isShared = LINES.has(kind) && !(kind === KIND.reduceSeldom && which === MULTIPLIED);
  return isShared && d3 * d4 * d5 >= LONG_LINE ? d3 * d4 * d5 : 0;
}

/** Most rows of one product, and most products, whose workgroups fit along an axis. */
const MOST_ROWS = TILE_ROWS * MAX_GROUPS;

/** Whether an operator of so many multiplications for a number of rows may be worth a dispatch of its own. */
export function isHeavy(work: number, rows: number): boolean {
  return work >= HEAVY && rows >= TILE_ROWS && rows <= MOST_ROWS;
}

const PLAIN_WEIGHTS = { weights: 0, hasBlocks: false } as const;

function denseTile(numbers: OpNumbers, work: number): Tile {
  const { rows = 1, filters = 0, channels = 0, output = 0, other = 0 } = numbers;
  const { weightType: weights = 0, scales = -1, scaleBlock = channels } = numbers;
  const isAligned = [filters, output, other].every((value) => value % 4 === 0);
  return {
    kind: "dense",
    rows,
    columns: filters,
    products: 1,
    depth: channels,
    isHeavy: isHeavy(work, rows),
    isAligned,
    weights,
    hasBlocks: scales >= 0 && scaleBlock < channels,
  };
}

/**
 * Tile of a dense operator in the arithmetic of its weights, where its rows have a place to be rounded to; else null.
 * They are rounded from any place and to whole vectors.
 */
export function narrowTileOf(numbers: OpNumbers, work: number): Tile | null {
  return numbers["kind"] === KIND.dense && numbers["d0"] !== undefined ? denseTile(numbers, work) : null;
}

/**
 * Words that an activation takes with its numbers rounded to so many bits: each row is vectors of four words, and one
 * more with its step.
 */
export function roundedWords(rows: number, channels: number, bits: NarrowBits): number {
  return rows * 4 * (Math.ceil((channels * bits) / 128) + 1);
}

/** Tile of an operator whose places in the arena are known; null where the programs cannot read it. */
export function tileOf(numbers: OpNumbers, work: number): Tile | null {
  const of = (field: string) => numbers[field] ?? 0;
  const isWhole = (...values: number[]) => values.every((value) => value % 4 === 0);
  const other = numbers["other"] ?? 0;
  if (numbers["kind"] === KIND.dense) {
    const tile = denseTile(numbers, work);
    return isWhole(tile.depth, of("input")) ? tile : null;
  }
  if (of("weightType") !== 0) return null;
  if (numbers["kind"] === KIND.product) {
    const [rows, columns, products] = [of("d3"), of("d4"), of("d0") * of("d1") * of("d2")];
    const strides = ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b5"].map(of);
    const isDense = of("a5") === 1 && of("b4") === 1 && isWhole(of("d5"), of("input"), of("weights"), ...strides);
    if (!isDense || products > MAX_GROUPS) return null;
    const isAligned = isWhole(columns, of("output"), other, ...["o0", "o1", "o2", "o3"].map(of));
    return {
      kind: "product",
      rows,
      columns,
      products,
      depth: of("d5"),
      isHeavy: isHeavy(work, rows),
      isAligned,
      ...PLAIN_WEIGHTS,
    };
  }
  const [pixels, filters] = [of("outHeight") * of("outWidth"), of("filters")];
  // The one program computes blocks of eight by eight; further ones are those of further groups.
  const isOneGroup = of("items") === Math.ceil(filters / 8) * Math.ceil(pixels / 8);
  if (numbers["kind"] !== KIND.convolve || of("which") !== 0 || !isOneGroup) return null;
  const tile = {
    kind: "convolve",
    rows: pixels,
    columns: filters,
    products: 1,
    depth: of("channels") * of("kernelHeight") * of("kernelWidth"),
    isHeavy: false,
    isAligned: false,
    ...PLAIN_WEIGHTS,
  } as const;
  if (numbers["d0"] === undefined) return tile;
  const [channels, picture] = [of("channels"), of("height") * of("width")];
  const walk = writeWalk(
    [
      { size: channels, a: picture, b: 0, out: 1 },
      { size: picture, a: 1, b: 0, out: Math.ceil(channels / 4) * 4 },
    ],
    2,
  );
  const turn = { ...walk, kind: KIND.map, which: 0, items: channels * picture, arena: of("arena") };
  return {
    ...tile,
    isHeavy: true,
    hasRest: channels % 4 !== 0,
    turn: { ...turn, input: of("input"), output: of("d0") },
  };
}
