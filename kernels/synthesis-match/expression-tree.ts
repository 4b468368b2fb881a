import { seededUniform } from "../seeded-uniform.ts";

/**
 * An expression tree is the list of its nodes in preorder, three numbers each: type, value and number of
 * children. In a pattern or template, a node of type VARIABLE stands for any tree, its value being the
 * variable's number; in a pattern, the value ANY stands for any value.
 */
export type ExpressionNode = readonly [type: number, value: number, children: number];
export const NODE_WORDS = 3;
export const VARIABLE = -1;
export const ANY = -1;

/** By type: leaves, unary and binary operators. */
const ARITIES = [0, 0, 1, 2] as const;
const VALUES = 3;

/** Draws of one seed and stream, one after the other: integers from 0 to below `limit`. */
export type Draw = (limit: number) => number;

/** As many draws as `length`. */
export function createDraw(seed: number, stream: number, length: number): Draw {
  const uniform = seededUniform(seed, stream, length);
  let next = 0;
  return (limit) => Math.floor((((uniform[next++] ?? 0) + 1) / 2) * limit);
}

/** A tree of exactly `size` nodes with at most three draws for each. */
export function drawTree(size: number, draw: Draw): ExpressionNode[] {
  const tree: ExpressionNode[] = [];
  const sizes = [size];
  for (let left = sizes.pop(); left !== undefined; left = sizes.pop()) {
    const type = left === 1 ? draw(2) : left === 2 ? 2 : 2 + draw(2);
    const children = ARITIES[type]!;
    tree.push([type, draw(VALUES), children]);
    if (children === 1) sizes.push(left - 1);
    if (children === 2) {
      const second = 1 + draw(left - 2);
      sizes.push(second, left - 1 - second);
    }
  }
  return tree;
}

/** Index behind the subtree that begins at `start`. */
export function findEnd(tree: readonly ExpressionNode[], start: number): number {
  let end = start;
  for (let open = 1; open > 0; end++) open += tree[end]![2] - 1;
  return end;
}

/** The trees one after the other, each filled up to `capacity` nodes with zeros. */
export function packTrees(trees: readonly (readonly ExpressionNode[])[], capacity: number): Int32Array<ArrayBuffer> {
  const packed = new Int32Array(trees.length * capacity * NODE_WORDS);
  for (const [index, tree] of trees.entries()) packed.set(tree.flat(), index * capacity * NODE_WORDS);
  return packed;
}

/** The tree at a place of packed ones. */
export function unpackTree(packed: Int32Array, index: number, capacity: number): ExpressionNode[] {
  const tree: ExpressionNode[] = [];
  let open = 1;
  for (let at = index * capacity * NODE_WORDS; open > 0; at += NODE_WORDS) {
    const children = packed[at + 2]!;
    tree.push([packed[at]!, packed[at + 1]!, children]);
    open += children - 1;
  }
  return tree;
}
