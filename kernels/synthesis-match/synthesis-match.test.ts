import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { ANY, type ExpressionNode, packTrees, VARIABLE } from "./expression-tree.ts";
import { synthesisMatch } from "./synthesis-match.kernel.ts";
import { synthesisMatchReference } from "./synthesis-match.reference.ts";

const [LEAF, OPERATOR] = [0, 3];
const leaf = (value: number): ExpressionNode => [LEAF, value, 0];
const variable = (number: number): ExpressionNode => [VARIABLE, number, 0];
const plus: ExpressionNode = [OPERATOR, 1, 2];
const times: ExpressionNode = [OPERATOR, 2, 2];

/** 4 + (7 · 9) · (7 · 9) */
const tree = [plus, leaf(4), times, times, leaf(7), leaf(9), times, leaf(7), leaf(9)];

test.each([
  ["a variable fits anything", [variable(1)], 0, [-1, 0]],
  ["a leaf fits one of its value", [leaf(9)], 5, [-1, -1]],
  ["any value fits", [[LEAF, ANY, 0]], 1, [-1, -1]],
  ["another value does not fit", [leaf(8)], -1, [-1, -1]],
  ["another number of children does not fit", [[OPERATOR, 1, 1], variable(0)], -1, [-1, -1]],
  ["variables take whole subtrees", [times, variable(0), variable(1)], 2, [3, 6]],
  ["a variable fits equal trees twice", [times, variable(0), variable(0)], 2, [3, -1]],
  ["and no others", [plus, variable(0), variable(0)], -1, [-1, -1]],
  ["the first place is found", [times, leaf(7), variable(0)], 3, [5, -1]],
] as [string, ExpressionNode[], number, number[]][])("%s", (_, pattern, position, bound) => {
  const shape = { trees: 1, nodes: 12, patterns: 1, patternNodes: 3, variables: 2 };
  const inputs = { tree: packTrees([tree], 12), pattern: packTrees([pattern], 3) };
  expect(readReference(synthesisMatchReference(inputs, shape))).toEqual({ position: [position], bound });
});

testKernel(synthesisMatch, [
  { trees: 37, nodes: 29, patterns: 7, patternNodes: 9, variables: 3 },
  { trees: 1, nodes: 1, patterns: 1, patternNodes: 1, variables: 1 },
  { trees: 2, nodes: 2, patterns: 5, patternNodes: 3, variables: 16 },
  { trees: 3, nodes: 1024, patterns: 256, patternNodes: 64, variables: 2 },
  { trees: 16_384, nodes: 5, patterns: 2, patternNodes: 2, variables: 1 },
]);
