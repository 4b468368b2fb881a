import type { KernelShape, KernelSpec } from "../kernel-spec.ts";
import { coverItems } from "../webgpu-limits.ts";
import {
  ANY,
  createDraw,
  type Draw,
  drawTree,
  type ExpressionNode,
  findEnd,
  NODE_WORDS,
  packTrees,
  VARIABLE,
} from "./expression-tree.ts";
import { type MatchSize, synthesisMatchReference } from "./synthesis-match.reference.ts";

/** Every pattern against every tree. */
export const synthesisMatch: KernelSpec<MatchSize> = {
  name: "synthesis-match",
  description: "Where patterns with variables first fit in expression trees, and what the variables stand for",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "trees", description: "Expression trees", min: 1, max: 16_384, default: 1024 },
    { name: "nodes", description: "Nodes of a tree at most", min: 1, max: 1024, default: 64 },
    { name: "patterns", description: "Patterns", min: 1, max: 256, default: 16 },
    { name: "patternNodes", description: "Nodes of a pattern at most", min: 1, max: 64, default: 8 },
    { name: "variables", description: "Variables of a pattern at most", min: 1, max: 16, default: 4 },
  ],
  batchDimension: "trees",
  dtypes: ["int32"],
  bindings: [
    {
      name: "tree",
      access: "read",
      dtype: "int32",
      extents: ({ trees, nodes }) => [trees, nodes, NODE_WORDS],
      alignment: [1, 1, 1],
    },
    {
      name: "pattern",
      access: "read",
      dtype: "int32",
      extents: ({ patterns, patternNodes }) => [patterns, patternNodes, NODE_WORDS],
      alignment: [1, 1, 1],
    },
    {
      name: "position",
      access: "write",
      dtype: "int32",
      extents: ({ trees, patterns }) => [trees, patterns],
      alignment: [1, 1],
    },
    {
      name: "bound",
      access: "write",
      dtype: "int32",
      extents: ({ trees, patterns, variables }) => [trees, patterns, variables],
      alignment: [1, 1, 1],
    },
  ],
  variants: [
    {
      name: "pair-per-lane",
      file: "synthesis-match.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
      passes: [
        {
          entryPoint: "main",
          workgroups: ({ trees, patterns }, { lanes }) => coverItems(trees * patterns, lanes!),
        },
      ],
    },
  ],
  splitBy: "trees",
  flops: () => 0,
  bytes: ({ trees, nodes, patterns, patternNodes, variables }) =>
    4 * (NODE_WORDS * (trees * nodes + patterns * patternNodes) + trees * patterns * (1 + variables)),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: (shape, seed) => {
    const trees = drawTrees(shape, seed);
    const patterns = drawPatterns(trees, shape, seed);
    return { tree: packTrees(trees, shape.nodes), pattern: packTrees(patterns, shape.patternNodes) };
  },
  reference: synthesisMatchReference,
};

/** The first tree is as large as a tree may be, the others of any size. */
export function drawTrees({ trees, nodes }: KernelShape<"trees" | "nodes">, seed: number): ExpressionNode[][] {
  return Array.from({ length: trees }, (_, index) => {
    const draw = createDraw(seed, index, 3 * nodes + 1);
    return drawTree(index === 0 ? nodes : 1 + draw(nodes), draw);
  });
}

type PatternSize = Exclude<MatchSize, "trees" | "nodes">;

/** Each pattern is a subtree of a tree, with variables for parts that are too large and for some others. */
export function drawPatterns(
  trees: readonly (readonly ExpressionNode[])[],
  { patterns, patternNodes, variables }: KernelShape<PatternSize>,
  seed: number,
): ExpressionNode[][] {
  return Array.from({ length: patterns }, (_, index) => {
    const draw = createDraw(seed, trees.length + index, 4 * patternNodes + 2);
    const tree = trees[draw(trees.length)]!;
    return drawPattern(tree, draw(tree.length), patternNodes, variables, draw);
  });
}

function drawPattern(
  tree: readonly ExpressionNode[],
  root: number,
  capacity: number,
  variables: number,
  draw: Draw,
): ExpressionNode[] {
  const pattern: ExpressionNode[] = [];
  /** Nodes that are still to come at least: one for each open child. */
  let open = 1;
  for (let at = root; open > 0;) {
    const [type, value, children] = tree[at]!;
    const isFull = pattern.length + open + children > capacity;
    if (isFull || draw(4) === 0) {
      pattern.push([VARIABLE, draw(variables), 0]);
      at = findEnd(tree, at);
      open--;
    } else {
      pattern.push([type, draw(2) === 0 ? ANY : value, children]);
      at++;
      open += children - 1;
    }
  }
  return pattern;
}
