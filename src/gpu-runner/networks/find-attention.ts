import { ATTENTION_TILE } from "../../../kernels/network/tiled-operators.ts";
import { MAX_GROUPS } from "../../../kernels/webgpu-limits.ts";
import type { PlannedOp, Spot } from "./lowering/lowering.ts";
import { COPY_WHERE, type OpNumbers } from "./lowering/network-op.ts";
import type { Region } from "./lowering/network-value.ts";

/** Operators that are one attention, by their index: the product of queries and keys first, that with the values last. */
export interface Attention {
  readonly members: readonly number[];
  /** Those among the functions of scores whose first operand is the scores. */
  readonly ofScores: ReadonlySet<number>;
  /** What they read and do not compute themselves; one step reads it in the place of the last operator. */
  readonly reads: readonly Region[];
  /** Workgroups for one row of a batch, and products of matrices. */
  readonly tiles: number;
  readonly products: number;
}

/** Functions of kernels/network/map.wgsl and seldom.wgsl that kernels/network/attention.wgsl computes. */
const FUNCTIONS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 28, COPY_WHERE]);

/** Largest number of functions between the products; each is read for each score. */
const MOST_FUNCTIONS = 8;

type Chain = Pick<Attention, "members" | "ofScores">;

/**
 * Finds softmaxes of products that another product reads, with functions of the scores between them, where nothing else
 * reads what lies between. Each may be computed in one step in the place of its last operator.
 */
export function findAttentions(operators: readonly PlannedOp[]): Attention[] {
  const found: Attention[] = [];
  const taken = new Set<number>();
  for (const [index, { kind }] of operators.entries()) {
    const attention = kind === "softmax" ? attentionAt(operators, index) : null;
    if (attention === null || attention.members.some((member) => taken.has(member))) continue;
    found.push(attention);
    for (const member of attention.members) taken.add(member);
  }
  return found;
}

function attentionAt(operators: readonly PlannedOp[], index: number): Attention | null {
  const softmax = operators[index]!;
  const last = operators.findIndex(({ input }) => input?.region === softmax.output!.region);
  const { numbers, kind } = operators[last] ?? softmax;
  if (kind !== "product" || !isPlainSoftmax(softmax) || !isWhole(operators[last]!.input)) return null;
  const size = softmax.output!.region.words;
  const [rows, columns, keys] = [numbers["d3"]!, numbers["d4"]!, numbers["d5"]!];
  const products = size / rows / keys;
  if (!isDense(numbers, "a", [rows, 1, keys]) || keys !== softmax.numbers["d5"]) return null;
  if (!isReadBy(operators, softmax.output!.region, new Set([last]))) return null;
  // Nobody writes the shares where attention is one step, so its product may read them in their own place alone.
  const { factor, other } = operators[last]!;
  if ([factor, other].some((spot) => spot?.region === softmax.output!.region)) return null;
  const chain = chainTo(operators, softmax.input!, new Set([index]));
  if (chain === null || chain.members.length > 1 + MOST_FUNCTIONS) return null;
  const first = operators[chain.members[0]!]!;
  const isSame =
    first.numbers["d3"] === rows && first.numbers["d4"] === keys && countMatrices(first.numbers) === products;
  const tiles = Math.ceil(rows / ATTENTION_TILE.queries) * Math.ceil(columns / ATTENTION_TILE.columns);
  if (!isSame || countMatrices(numbers) !== products || Math.max(tiles, products) > MAX_GROUPS) return null;
  const members = [...chain.members, index, last];
  const reads = readsOfMembers(operators, members);
  return staysUntil(operators, members, reads) ? { ...chain, members, reads, tiles, products } : null;
}

function countMatrices(numbers: OpNumbers): number {
  return numbers["d0"]! * numbers["d1"]! * numbers["d2"]!;
}

/** Whether lines lie one behind the other, and shares come out. */
function isPlainSoftmax({ numbers, input, output }: PlannedOp): boolean {
  const isOne = numbers["d3"] === 1 && numbers["d4"] === 1 && numbers["which"] === 0 && !("quantised" in numbers);
  return isOne && isWhole(input) && isWhole(output) && isDense(numbers, "a", [1, 1, numbers["d5"]!]);
}

/** Whether a spot is all of its region. */
function isWhole(spot: Spot | undefined): boolean {
  return spot?.offset === 0;
}

/** Whether an operand of a walk, with these sizes along the last three axes, lies as the walk goes. */
function isDense(numbers: OpNumbers, operand: "a" | "o", inner: readonly number[]): boolean {
  const sizes = [0, 1, 2].map((axis) => numbers[`d${axis}`]!).concat(inner);
  let step = 1;
  for (let axis = sizes.length - 1; axis >= 0; axis--) {
    if (sizes[axis] !== 1 && numbers[`${operand}${axis}`] !== step) return false;
    step *= sizes[axis]!;
  }
  return true;
}

/** Product and functions that compute scores which only these operators read, and each other; null where others do. */
function chainTo(operators: readonly PlannedOp[], scores: Spot, readers: ReadonlySet<number>): Chain | null {
  const { region } = scores;
  const writers = operators.flatMap(({ output }, index) => (output?.region === region ? [index] : []));
  const ops = writers.map((index) => operators[index]!);
  if (!isWhole(scores) || !ops.every(({ output }) => isWhole(output))) return null;
  if (!isReadBy(operators, region, new Set([...readers, ...writers]))) return null;
  const [only] = ops;
  if (ops.length === 1 && only!.kind === "product") {
    const { d3, d4 } = only!.numbers as { readonly d3: number; readonly d4: number };
    const isPlain = isDense(only!.numbers, "o", [d3, d4, 1]) && countMatrices(only!.numbers) * d3 * d4 === region.words;
    return isPlain ? { members: writers, ofScores: new Set() } : null;
  }
  if (ops.length > 2 || !ops.every((op) => isFunction(op, region))) return null;
  // Of two, the second replaces some elements.
  if (ops.some(({ numbers }, at) => (numbers["which"] === COPY_WHERE) !== (at === 1))) return null;
  for (const [at, { input, numbers }] of ops.entries()) {
    if (input === undefined || input.region === region || !isDense(numbers, "a", innerOf(numbers))) continue;
    if (
      ops.some((op, index) => op.other?.region === input.region || (index !== at && op.input?.region === input.region))
    )
      continue;
    const before = chainTo(operators, input, new Set(writers));
    if (before === null) continue;
    return {
      members: [...before.members, ...writers],
      ofScores: new Set([...before.ofScores, writers[at]!]),
    };
  }
  return null;
}

function innerOf(numbers: OpNumbers): number[] {
  return [3, 4, 5].map((axis) => numbers[`d${axis}`]!);
}

/** Whether an operator computes each element of a region from one place of each operand. */
function isFunction({ kind, numbers, other }: PlannedOp, region: Region): boolean {
  const isAll = numbers["items"] === region.words && other?.region !== region;
  return kind === "map" && isAll && FUNCTIONS.has(numbers["which"]!) && isDense(numbers, "o", innerOf(numbers));
}

/** Regions that an operator reads. */
function readsOf({ input, other, factor, cells, firstCells, products, turned }: PlannedOp): (Region | undefined)[] {
  return [input, other, factor, cells, firstCells, products, turned].map((spot) => spot?.region);
}

function isReadBy(operators: readonly PlannedOp[], region: Region, readers: ReadonlySet<number>): boolean {
  return operators.every((op, index) => readers.has(index) || !readsOf(op).includes(region));
}

function readsOfMembers(operators: readonly PlannedOp[], members: readonly number[]): Region[] {
  const ops = members.map((member) => operators[member]!);
  const own = new Set(ops.map(({ output }) => output?.region));
  return ops.flatMap(readsOf).flatMap((region) => (region === undefined || own.has(region) ? [] : [region]));
}

/** Whether what the members read is not written anew before the last of them. */
function staysUntil(operators: readonly PlannedOp[], members: readonly number[], reads: readonly Region[]): boolean {
  return members.every((member) => {
    const read = new Set(
      readsOf(operators[member]!).filter((region) => region !== undefined && reads.includes(region)),
    );
    return operators.slice(member, members.at(-1)).every(({ output, cells }) => {
      return !read.has(output?.region) && !read.has(cells?.region);
    });
  });
}
