import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { layOutPolicy, spreadAction } from "../../../kernels/rollout/policy-layout.ts";
import { type DenseLayer, writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import type { LayeredNetwork, PolicyNetwork } from "../../protocol/policy-network.ts";
import { unrollGraph } from "./unroll-graph.ts";

/** What a policy is written for. */
type PolicyPlace = Pick<EnvironmentSpec, "name" | "observationSize" | "action">;

/**
 * A policy as an ONNX file: `observation` [batch, numbers] becomes `logits`, of which the largest is the action, or in
 * an environment of continuous actions `action` itself, spread over its bounds. Null where a network of this kind has
 * no such file.
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

/** base + spread · x of each number, as a layer. */
function scale(size: number, base: number, spread: number): DenseLayer {
  const weights = new Float32Array(size * size);
  for (let index = 0; index < size; index++) weights[index * (size + 1)] = spread;
  return { inputs: size, outputs: size, weights, bias: new Float32Array(size).fill(base), activation: "none" };
}
