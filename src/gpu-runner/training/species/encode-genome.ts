import { CONNECTION_NUMBERS } from "../../../../kernels/rollout/policy-layout.ts";
import { countPorts, type Gene, type Genome, type Ports } from "./genome.ts";

/**
 * A genome as a row of a graph policy, `length` numbers (see policy-layout.ts): its enabled connections on a way from an
 * input or the bias, in topological order. What takes nothing in gives nothing on. Hidden nodes are numbered anew.
 */
export function encodeGenome(genome: Genome, ports: Ports, length: number): Float32Array<ArrayBuffer> {
  const first = countPorts(ports);
  const enabled = genome.filter((gene) => gene.enabled);
  const order = orderHidden(enabled, first);
  const slots = new Map(order.map((node, index) => [node, first + index]));
  const outputs = Array.from({ length: ports.outputs }, (_, output) => first - ports.outputs + output);
  const slotOf = (node: number) => (node < first ? node : slots.get(node));
  const connections = [...order, ...outputs].flatMap((target) =>
    enabled.filter((gene) => gene.target === target && slotOf(gene.source) !== undefined),
  );
  const row = new Float32Array(length);
  row[0] = connections.length;
  for (const [index, { source, target, weight }] of connections.entries())
    row.set([slotOf(source)!, slotOf(target)!, weight], 1 + CONNECTION_NUMBERS * index);
  return row;
}

/** Hidden nodes that something leads to, each behind all that it takes from. */
function orderHidden(enabled: readonly Gene[], first: number): number[] {
  const incoming = Map.groupBy(
    enabled.filter(({ target }) => target >= first),
    ({ target }) => target,
  );
  const order: number[] = [];
  const visited = new Set<number>();
  const alive = new Set<number>();
  function visit(node: number): boolean {
    if (node < first) return true;
    if (visited.has(node)) return alive.has(node);
    visited.add(node);
    // All of them, since each has to stand before.
    const feeding = (incoming.get(node) ?? []).filter(({ source }) => visit(source));
    if (feeding.length === 0) return false;
    order.push(node);
    alive.add(node);
    return true;
  }
  for (const node of incoming.keys()) visit(node);
  return order;
}
