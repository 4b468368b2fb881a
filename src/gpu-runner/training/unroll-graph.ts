import { GRAPH_SLOPE } from "../../../kernels/rollout/graph.reference.ts";
import { CONNECTION_NUMBERS, layOutGraph } from "../../../kernels/rollout/policy-layout.ts";
import type { DenseLayer } from "../../../models/onnx-mlp-writer.ts";
import type { RolloutEnvironment } from "../../protocol/rollout-environment.ts";

interface Connection {
  readonly source: number;
  readonly target: number;
  readonly weight: number;
}

/**
 * A graph as dense layers: each computes the hidden nodes that need no more than what is there, and passes that on with
 * them; the last computes the outputs. The bias and the slope of the sigmoid are in biases and weights.
 */
export function unrollGraph(
  environment: Pick<RolloutEnvironment, "observationSize" | "action">,
  row: Float32Array,
): DenseLayer[] {
  const { bias, firstOutput, firstHidden } = layOutGraph(environment);
  const connections = readConnections(row);
  const depths = new Map<number, number>();
  // A node stands behind all that it takes from.
  for (const { source, target } of connections)
    depths.set(target, Math.max(depths.get(target) ?? 1, (depths.get(source) ?? 0) + 1));
  const hidden = [...depths].filter(([node]) => node >= firstHidden);
  const deepest = Math.max(0, ...hidden.map(([, depth]) => depth));
  const known = Array.from({ length: bias }, (_, input) => input);
  const layers: DenseLayer[] = [];
  for (let depth = 1; depth <= deepest; depth++) {
    const nodes = hidden.filter(([, own]) => own === depth).map(([node]) => node);
    layers.push({ ...sumInto(nodes, known, bias, connections), keepsInputs: true });
    known.push(...nodes);
  }
  const outputs = Array.from({ length: firstHidden - firstOutput }, (_, output) => firstOutput + output);
  return [...layers, sumInto(outputs, known, bias, connections)];
}

function readConnections(row: Float32Array): Connection[] {
  return Array.from({ length: row[0]! }, (_, index) => {
    const [source = 0, target = 0, weight = 0] = row.subarray(1 + CONNECTION_NUMBERS * index);
    return { source, target, weight };
  });
}

function sumInto(
  targets: readonly number[],
  known: readonly number[],
  bias: number,
  connections: readonly Connection[],
): DenseLayer {
  const weights = new Float32Array(targets.length * known.length);
  const biases = new Float32Array(targets.length);
  for (const { source, target, weight } of connections) {
    const output = targets.indexOf(target);
    if (output < 0) continue;
    if (source === bias) biases[output]! += GRAPH_SLOPE * weight;
    else weights[output * known.length + known.indexOf(source)]! += GRAPH_SLOPE * weight;
  }
  return { inputs: known.length, outputs: targets.length, weights, bias: biases, activation: "sigmoid" };
}
