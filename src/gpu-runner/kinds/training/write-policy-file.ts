import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { GRAPH_SLOPE } from "../../../../kernels/rollout/graph.reference.ts";
import {
  CONNECTION_NUMBERS,
  layOutGraph,
  layOutPolicy,
  spreadAction,
} from "../../../../kernels/rollout/policy-layout.ts";
import { type DenseLayer, writeOnnxMlp } from "../../../../models/onnx-mlp-writer.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";
import type { LayeredNetwork, PolicyNetwork } from "../../../protocol/models/policy-network.ts";

interface Connection {
  readonly source: number;
  readonly target: number;
  readonly weight: number;
}

/**
 * Graph as dense layers.
 * Each computes the hidden nodes whose inputs are ready and passes those inputs on; the last computes the outputs.
 * The sigmoid's bias and slope are folded into biases and weights.
 */
function unrollGraph(
  environment: Pick<RolloutEnvironment, "observationSize" | "action">,
  row: Float32Array,
): DenseLayer[] {
  const { bias, firstOutput, firstHidden } = layOutGraph(environment);
  const connections = readConnections(row);
  const depths = new Map<number, number>();
  // A node is deeper than all of its inputs.
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

/** Environment that a policy is written for. */
type PolicyPlace = Pick<EnvironmentSpec, "name" | "observationSize" | "action">;

/**
 * Policy as an ONNX file; null where a network of this kind has no such file.
 * `observation` [batch, numbers] becomes `logits`, whose largest is the action.
 * With continuous actions it becomes `action` itself, scaled to its bounds.
 */
export function writePolicyFile(
  environment: PolicyPlace,
  network: PolicyNetwork,
  row: Float32Array,
): Uint8Array<ArrayBuffer> | null {
  if (network.kind === "direct" || network.kind === "conv") return null;
  const layers = network.kind === "graph" ? unrollGraph(environment, row) : readLayers(environment, network, row);
  const { base, spread } = spreadAction(network, environment.action);
  if (base !== 0 || spread !== 1) layers.push(scale(layers.at(-1)!.outputs, base, spread));
  const output = environment.action.kind === "discrete" ? "logits" : "action";
  return writeOnnxMlp({ name: environment.name, input: "observation", output, layers });
}

function readLayers(environment: PolicyPlace, network: LayeredNetwork, row: Float32Array): DenseLayer[] {
  return layOutPolicy(network, environment).map(({ inputs, outputs, activation, weightsAt, biasAt }) => ({
    inputs,
    outputs,
    weights: row.slice(weightsAt, weightsAt + inputs * outputs),
    bias: row.slice(biasAt, biasAt + outputs),
    activation,
  }));
}

/** Layer that computes base + spread · x for each number. */
function scale(size: number, base: number, spread: number): DenseLayer {
  const weights = new Float32Array(size * size);
  for (let index = 0; index < size; index++) weights[index * (size + 1)] = spread;
  return { inputs: size, outputs: size, weights, bias: new Float32Array(size).fill(base), activation: "none" };
}
