import type { GraphNetwork } from "../../src/protocol/models/policy-network.ts";
import type { RolloutEnvironment } from "../../src/protocol/fleet/rollout-environment.ts";
import { CONNECTION_NUMBERS, countOutputs, layOutGraph } from "./policy-layout.ts";

/** Of the sigmoid of every node (Stanley and Miikkulainen 2002, section 4.1). */
export const GRAPH_SLOPE = 4.9;

/** A graph in f64: the reference of graph.wgsl. `row` is laid out as policy-layout.ts says. */
export function openGraph(
  environment: Pick<RolloutEnvironment, "observationSize" | "action">,
  { hiddenNodes, connections }: GraphNetwork,
  row: Float32Array,
): (observation: Float64Array) => Float64Array {
  const { bias, firstOutput, firstHidden } = layOutGraph(environment);
  const values = new Float64Array(firstHidden + hiddenNodes);
  const nodeAt = (at: number) => Math.min(values.length - 1, Math.max(0, Math.trunc(row[at]!)));
  const end = 1 + CONNECTION_NUMBERS * Math.min(connections, Math.max(0, Math.trunc(row[0]!)));
  return (observation) => {
    values.fill(0);
    values.set(observation);
    values[bias] = 1;
    values.fill(0.5, firstOutput, firstHidden);
    let sum = 0;
    for (let at = 1; at < end; at += CONNECTION_NUMBERS) {
      sum += row[at + 2]! * values[nodeAt(at)]!;
      const target = nodeAt(at + 1);
      const isLast = at + CONNECTION_NUMBERS >= end || nodeAt(at + CONNECTION_NUMBERS + 1) !== target;
      if (!isLast) continue;
      values[target] = 1 / (1 + Math.exp(-GRAPH_SLOPE * sum));
      sum = 0;
    }
    return values.slice(firstOutput, firstOutput + countOutputs(environment.action));
  };
}
