import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { ANY, type ExpressionNode, findEnd, unpackTree, VARIABLE } from "./expression-tree.ts";

export type MatchSize = "trees" | "nodes" | "patterns" | "patternNodes" | "variables";

/** Where the subtree of each variable begins; −1 where the pattern does not have the variable. */
type Bound = number[];

/**
 * position[tree][pattern] = the first node in preorder at which the pattern fits, −1 where it fits nowhere;
 * bound[tree][pattern][variable] = the node at which what the variable stands for begins, −1 for none. A
 * node fits one of equal type, value (or any) and number of children whose children fit; a variable fits
 * any tree, at its second time an equal one.
 */
export function synthesisMatchReference(inputs: KernelArrays, shape: KernelShape<MatchSize>): KernelReference {
  const { tree, pattern } = inputs as { tree: Int32Array; pattern: Int32Array };
  const { trees, nodes, patterns, patternNodes, variables } = shape;

  function matchPair(pair: number): { position: number; bound: Bound } {
    const subject = unpackTree(tree, Math.floor(pair / patterns), nodes);
    const wanted = unpackTree(pattern, pair % patterns, patternNodes);
    for (let position = 0; position < subject.length; position++) {
      const bound = match(subject, position, wanted, variables);
      if (bound !== null) return { position, bound };
    }
    return { position: -1, bound: Array<number>(variables).fill(-1) };
  }

  const known = new Map<number, ReturnType<typeof matchPair>>();
  function look(pair: number): ReturnType<typeof matchPair> {
    const result = known.get(pair) ?? matchPair(pair);
    known.set(pair, result);
    return result;
  }

  const bound: KernelReference = {
    output: "bound",
    length: trees * patterns * variables,
    elementFlops: 20 * nodes,
    element: (index) => look(Math.floor(index / variables)).bound[index % variables]!,
  };
  return {
    output: "position",
    length: trees * patterns,
    elementFlops: 20 * nodes,
    element: (pair) => look(pair).position,
    others: [bound],
  };
}

function match(
  tree: readonly ExpressionNode[],
  start: number,
  pattern: readonly ExpressionNode[],
  variables: number,
): Bound | null {
  const bound: Bound = Array<number>(variables).fill(-1);
  const textOf = (root: number) => JSON.stringify(tree.slice(root, findEnd(tree, root)));
  let at = start;
  for (const [type, value, children] of pattern) {
    if (type === VARIABLE) {
      if (bound[value]! >= 0 && textOf(bound[value]!) !== textOf(at)) return null;
      if (bound[value]! < 0) bound[value] = at;
      at = findEnd(tree, at);
    } else {
      const [theirType, theirValue, theirChildren] = tree[at]!;
      if (type !== theirType || children !== theirChildren || (value !== ANY && value !== theirValue)) return null;
      at++;
    }
  }
  return bound;
}
