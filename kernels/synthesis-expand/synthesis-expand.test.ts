import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { type ExpressionNode, packTrees, unpackTree, VARIABLE } from "../synthesis-match/expression-tree.ts";
import { synthesisExpand } from "./synthesis-expand.kernel.ts";
import { synthesisExpandReference } from "./synthesis-expand.reference.ts";

const leaf = (value: number): ExpressionNode => [0, value, 0];
const variable = (number: number): ExpressionNode => [VARIABLE, number, 0];
const plus: ExpressionNode = [3, 1, 2];
const times: ExpressionNode = [3, 2, 2];

/** 4 · (7 + 9): the first variable is 4, the second is the sum. */
const tree = [times, leaf(4), plus, leaf(7), leaf(9)];

test.each([
  ["variables are replaced by their trees", [plus, variable(1), variable(0)], 0, [plus, ...tree.slice(2), leaf(4)]],
  ["a variable may occur twice", [plus, variable(0), variable(0)], 0, [plus, leaf(4), leaf(4)]],
  ["a template may have no variable", [leaf(5)], 0, [leaf(5)]],
  ["without a match there is nothing", [leaf(5)], -1, 0],
  ["nor without a tree for a variable", [plus, variable(0), variable(2)], 0, 0],
  ["what does not fit is told", [plus, variable(1), variable(1)], 0, -1],
] as [string, ExpressionNode[], number, ExpressionNode[] | number][])("%s", (_, template, position, wanted) => {
  const room = 6;
  const shape = { trees: 1, nodes: 5, rules: 1, templateNodes: 3, variables: 3, room };
  const inputs = {
    tree: packTrees([tree], 5),
    template: packTrees([template], 3),
    position: Int32Array.of(position),
    bound: Int32Array.of(1, 2, -1),
  };
  const { expanded, length } = readReference(synthesisExpandReference(inputs, shape));
  if (typeof wanted === "number") {
    expect(length).toEqual([wanted]);
    expect(new Set(expanded)).toEqual(new Set([0]));
  } else {
    expect(length).toEqual([wanted.length]);
    expect(unpackTree(Int32Array.from(expanded ?? []), 0, room)).toEqual(wanted);
  }
});

testKernel(synthesisExpand, [
  { trees: 37, nodes: 29, rules: 7, templateNodes: 9, variables: 2, room: 40 },
  { trees: 1, nodes: 1, rules: 1, templateNodes: 1, variables: 1, room: 1 },
  { trees: 2, nodes: 2, rules: 5, templateNodes: 3, variables: 16, room: 3 },
  { trees: 3, nodes: 1024, rules: 8, templateNodes: 64, variables: 1, room: 4096 },
  { trees: 16_384, nodes: 5, rules: 2, templateNodes: 2, variables: 1, room: 5 },
]);
