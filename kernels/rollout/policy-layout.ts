import type {
  Activation,
  ConvNetwork,
  LayeredNetwork,
  PolicyNetwork,
} from "../../src/protocol/models/policy-network.ts";
import type { RolloutEnvironment } from "../../src/protocol/fleet/rollout-environment.ts";

/** One dense layer in a member's row of parameters: weights[outputs][inputs] at `weightsAt`, then biases at `biasAt`. */
export interface PolicyLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly activation: Activation;
  readonly weightsAt: number;
  readonly biasAt: number;
}

/** The layers of a policy in an environment, in order; a row of parameters has all of them without gaps. */
export function layOutPolicy(
  network: LayeredNetwork,
  { observationSize, action }: Pick<RolloutEnvironment, "observationSize" | "action">,
): PolicyLayer[] {
  // Outputs without inputs: biases alone.
  if (network.kind === "direct")
    return [{ inputs: 0, outputs: countOutputs(action), activation: "none", weightsAt: 0, biasAt: 0 }];
  if (network.kind === "conv") return layOutConv(network, countOutputs(action));
  const { hidden, activation, outputActivation } = network;
  const widths = [observationSize, ...hidden, countOutputs(action)];
  let at = 0;
  return widths.slice(1).map((outputs, layer) => {
    const inputs = widths[layer]!;
    const weightsAt = at;
    const biasAt = at + inputs * outputs;
    at = biasAt + outputs;
    return {
      inputs,
      outputs,
      activation: layer === hidden.length ? outputActivation : activation,
      weightsAt,
      biasAt,
    };
  });
}

/** Frames that a convolutional policy sees, and numbers of its second layer's maps; see conv.wgsl. */
export const CONV = { frames: 4, side: 84, mapArea: 81 } as const;

/** A convolution is a layer whose inputs are those of one window, in the order [input][row][column]. */
function layOutConv(
  { firstChannels, secondChannels, hidden, activation }: ConvNetwork,
  outputs: number,
): PolicyLayer[] {
  const sizes = [
    { inputs: CONV.frames * 8 * 8, outputs: firstChannels, activation },
    { inputs: firstChannels * 4 * 4, outputs: secondChannels, activation },
    { inputs: secondChannels * CONV.mapArea, outputs: hidden, activation },
    { inputs: hidden, outputs, activation: "none" },
  ] as const;
  let at = 0;
  return sizes.map((size) => {
    const weightsAt = at;
    const biasAt = at + size.inputs * size.outputs;
    at = biasAt + size.outputs;
    return { ...size, weightsAt, biasAt };
  });
}

/** Outputs of a policy: one for each discrete action or component of a continuous one. */
export function countOutputs(action: RolloutEnvironment["action"]): number {
  return action.kind === "discrete" ? action.count : action.size;
}

/** Numbers of a connection in a row: node that it comes from, node that it leads to, weight. */
export const CONNECTION_NUMBERS = 3;

/**
 * Nodes of a graph by number: inputs from 0, one bias that is always 1, outputs, then hidden ones. A row of parameters
 * has the number of its connections first, then the connections. Those that lead to one node are together, after all
 * those that lead to its inputs. The rest of the row is not read.
 */
export interface GraphNodes {
  readonly bias: number;
  readonly firstOutput: number;
  readonly firstHidden: number;
}

/** Indexes of a graph's nodes in an environment. */
export function layOutGraph({
  observationSize,
  action,
}: Pick<RolloutEnvironment, "observationSize" | "action">): GraphNodes {
  const firstOutput = observationSize + 1;
  return { bias: observationSize, firstOutput, firstHidden: firstOutput + countOutputs(action) };
}

/** Numbers in the row of one member. */
export function countParameters(
  network: PolicyNetwork,
  environment: Pick<RolloutEnvironment, "observationSize" | "action">,
): number {
  if (network.kind === "graph") return 1 + CONNECTION_NUMBERS * network.connections;
  const last = layOutPolicy(network, environment).at(-1)!;
  return last.biasAt + last.outputs;
}

/** How outputs become a continuous action: base + spread · output. */
export function spreadAction(network: PolicyNetwork, action: RolloutEnvironment["action"]) {
  const outputActivation = outputActivationOf(network);
  if (action.kind === "discrete" || outputActivation === "none" || outputActivation === "relu") {
    return { base: 0, spread: 1 };
  }
  const { low, high } = action;
  return outputActivation === "tanh"
    ? { base: (low + high) / 2, spread: (high - low) / 2 }
    : { base: low, spread: high - low };
}

function outputActivationOf(network: PolicyNetwork): Activation {
  if (network.kind === "graph") return "sigmoid";
  return network.kind === "mlp" ? network.outputActivation : "none";
}
