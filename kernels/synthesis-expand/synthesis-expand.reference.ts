import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { type ExpressionNode, findEnd, NODE_WORDS, unpackTree, VARIABLE } from "../synthesis-match/expression-tree.ts";

export type ExpandSize = "trees" | "nodes" | "rules" | "templateNodes" | "variables" | "room";

/**
 * expanded[tree][rule] = the rule's template with each variable replaced by the subtree that it is bound to,
 * filled up to `room` nodes with zeros; length[tree][rule] = its number of nodes, 0 where the rule's pattern
 * has no position or a variable of the template is unbound, −1 where there is too little room. Then
 * all of `expanded` is zero. Elements of one pair in a row cost one expansion.
 */
export function synthesisExpandReference(inputs: KernelArrays, shape: KernelShape<ExpandSize>): KernelReference {
  const { tree, template, position, bound } = inputs as Record<"tree" | "template" | "position" | "bound", Int32Array>;
  const { trees, nodes, rules, templateNodes, variables, room } = shape;

  function expandPair(pair: number): ExpressionNode[] {
    if (position[pair]! < 0) return [];
    const subject = unpackTree(tree, Math.floor(pair / rules), nodes);
    const starts = bound.subarray(pair * variables, (pair + 1) * variables);
    const pattern = unpackTree(template, pair % rules, templateNodes);
    if (pattern.some(([type, value]) => type === VARIABLE && starts[value]! < 0)) return [];
    return pattern.flatMap((node) => {
      const start = starts[node[1]]!;
      return node[0] === VARIABLE ? subject.slice(start, findEnd(subject, start)) : [node];
    });
  }

  let current = { pair: -1, expansion: [] as ExpressionNode[] };
  function look(pair: number): ExpressionNode[] {
    if (pair !== current.pair) current = { pair, expansion: expandPair(pair) };
    return current.expansion;
  }

  const elementFlops = 20 * (nodes + templateNodes);
  const length: KernelReference = {
    output: "length",
    length: trees * rules,
    elementFlops,
    element: (pair) => (look(pair).length > room ? -1 : look(pair).length),
  };
  return {
    output: "expanded",
    length: trees * rules * room * NODE_WORDS,
    elementFlops,
    element: (index) => {
      const place = Math.floor(index / NODE_WORDS);
      const result = look(Math.floor(place / room));
      return result.length > room ? 0 : (result[place % room]?.[index % NODE_WORDS] ?? 0);
    },
    others: [length],
  };
}
