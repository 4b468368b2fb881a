import type { KernelSpec } from "../kernel-spec.ts";
import { NODE_WORDS, packTrees } from "../synthesis-match/expression-tree.ts";
import { drawPatterns, drawTrees } from "../synthesis-match/synthesis-match.kernel.ts";
import { synthesisMatchReference } from "../synthesis-match/synthesis-match.reference.ts";
import { coverItems } from "../webgpu-limits.ts";
import { type ExpandSize, synthesisExpandReference } from "./synthesis-expand.reference.ts";

/** What follows a match: a rule is a pattern and a template with the same variables. */
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
  flops: () => 0,
  bytes: ({ trees, nodes, rules, templateNodes, variables, room }) =>
    4 * (NODE_WORDS * (trees * nodes + rules * templateNodes) + trees * rules * (2 + variables + NODE_WORDS * room)),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  // Patterns and templates are drawn alike, so that templates have variables which their patterns do not.
  generate: (shape, seed) => {
    const size = { ...shape, patterns: shape.rules, patternNodes: shape.templateNodes };
    const drawn = drawTrees(size, seed);
    const tree = packTrees(drawn, shape.nodes);
    const pattern = packTrees(drawPatterns(drawn, size, seed), shape.templateNodes);
    const template = packTrees(drawPatterns(drawn, size, seed + 1), shape.templateNodes);
    const found = synthesisMatchReference({ tree, pattern }, size);
    const readAll = ({ length, element }: Pick<typeof found, "length" | "element">) =>
      Int32Array.from({ length }, (_, index) => element(index));
    return { tree, template, position: readAll(found), bound: readAll(found.others![0]!) };
  },
  reference: synthesisExpandReference,
};
