import type { KernelSpec } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { type ExpressionNode, NODE_WORDS, packTrees } from "../synthesis-match/expression-tree.ts";
import { drawPatterns, drawTrees } from "../synthesis-match/synthesis-match.kernel.ts";
import { coverItems } from "../webgpu-limits.ts";
import { type ExpandSize, synthesisExpandReference } from "./synthesis-expand.reference.ts";

/** The step after a match. A rule is a pattern and a template with the same variables. */
export const synthesisExpand: KernelSpec<ExpandSize> = {
  name: "synthesis-expand",
  description: "Templates with the subtrees that `synthesis-match` found for their variables",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "trees", description: "Expression trees", min: 1, max: 16_384, default: 1024 },
    { name: "nodes", description: "Nodes of a tree at most", min: 1, max: 1024, default: 64 },
    { name: "rules", description: "Rules", min: 1, max: 256, default: 16 },
    { name: "templateNodes", description: "Nodes of a template at most", min: 1, max: 64, default: 8 },
    { name: "variables", description: "Variables of a rule at most", min: 1, max: 16, default: 4 },
    { name: "room", description: "Nodes of an expansion at most", min: 1, max: 4096, default: 64 },
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
      name: "template",
      access: "read",
      dtype: "int32",
      extents: ({ rules, templateNodes }) => [rules, templateNodes, NODE_WORDS],
      alignment: [1, 1, 1],
    },
    {
      name: "position",
      access: "read",
      dtype: "int32",
      extents: ({ trees, rules }) => [trees, rules],
      alignment: [1, 1],
    },
    {
      name: "bound",
      access: "read",
      dtype: "int32",
      extents: ({ trees, rules, variables }) => [trees, rules, variables],
      alignment: [1, 1, 1],
    },
    {
      name: "expanded",
      access: "write",
      dtype: "int32",
      extents: ({ trees, rules, room }) => [trees, rules, room, NODE_WORDS],
      alignment: [1, 1, 1, 1],
    },
    {
      name: "length",
      access: "write",
      dtype: "int32",
      extents: ({ trees, rules }) => [trees, rules],
      alignment: [1, 1],
    },
  ],
  variants: [
    {
      name: "pair-per-lane",
      file: "synthesis-expand.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
      passes: [{ entryPoint: "main", workgroups: ({ trees, rules }, { lanes }) => coverItems(trees * rules, lanes!) }],
    },
  ],
  splitBy: "trees",
  flops: () => 0,
  bytes: ({ trees, nodes, rules, templateNodes, variables, room }) =>
    4 * (NODE_WORDS * (trees * nodes + rules * templateNodes) + trees * rules * (2 + variables + NODE_WORDS * room)),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: (shape, seed) => {
    const { nodes, rules, templateNodes, variables } = shape;
    const trees = drawTrees(shape, seed);
    const templates = drawPatterns(trees, { patterns: rules, patternNodes: templateNodes, variables }, seed + 1);
    return {
      tree: packTrees(trees, nodes),
      template: packTrees(templates, templateNodes),
      position: drawPlaces(trees, rules, seed + 2, 0),
      bound: drawPlaces(trees, rules * variables, seed + 2, 1),
    };
  },
  reference: synthesisExpandReference,
};

/** Random positions in each tree, −1 for one in eight. They replace real matches, which take far longer to find. */
function drawPlaces(
  trees: readonly (readonly ExpressionNode[])[],
  each: number,
  seed: number,
  stream: number,
): Int32Array<ArrayBuffer> {
  const uniform = seededUniform(seed, stream, trees.length * each, 4);
  const place = (value: number, size: number) => (value < -3 ? -1 : Math.floor(((value + 3) / 7) * size));
  return new Int32Array(uniform.length).map((_, i) => place(uniform[i]!, trees[Math.floor(i / each)]!.length));
}
