import type { Activation, PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { countObservationWords, type EnvironmentSpec } from "../environments/environment-spec.ts";
import { countOutputs, layOutGraph, layOutPolicy, spreadAction } from "./policy-layout.ts";

/** The folder of the WGSL around policies and environments. */
export const ROLLOUT_FOLDER = new URL(".", import.meta.url);

/** How programs know an activation. */
export const ACTIVATION_NUMBERS: Record<Activation, number> = { none: 0, relu: 1, tanh: 2, sigmoid: 3 };

/** Sizes and types that everything else is written in. */
export function writePrelude(environment: EnvironmentSpec, network: PolicyNetwork): string {
  const { observationSize, action, measures, constants = {} } = environment;
  const { base, spread } = spreadAction(network, action);
  const lines = [
    `const OBSERVATION_SIZE = ${observationSize}u;`,
    `const OUTPUTS = ${countOutputs(action)}u;`,
    `const MEASURES = ${measures}u;`,
    ...writeSizes(network, environment),
    `const ACTION_BASE = ${writeFloat(base)};`,
    `const ACTION_SPREAD = ${writeFloat(spread)};`,
    ...Object.entries(constants).map(([name, value]) => `const ${name} = ${value};`),
    ...writeObservation(environment),
    "alias Outputs = array<f32, OUTPUTS>;",
    "struct Transition { reward: f32, terminated: bool }",
  ];
  return `${lines.join("\n")}\n`;
}

function writeObservation(environment: EnvironmentSpec): string[] {
  const type = (environment.observationForm ?? "numbers") === "numbers" ? "f32" : "u32";
  return [
    `const OBSERVATION_WORDS = ${countObservationWords(environment)}u;`,
    `alias Observation = array<${type}, OBSERVATION_WORDS>;`,
  ];
}

function writeSizes(network: PolicyNetwork, environment: EnvironmentSpec): string[] {
  switch (network.kind) {
    case "mlp": {
      const outputs = layOutPolicy(network, environment).map((layer) => layer.outputs);
      const widths = [environment.observationSize, ...outputs];
      return [
        `const LAYERS = ${outputs.length}u;`,
        `const WIDEST = ${Math.max(...outputs)}u;`,
        `const WIDTHS = array<u32, ${widths.length}>(${widths.map((width) => `${width}u`).join(", ")});`,
        `const HIDDEN_ACTIVATION = ${ACTIVATION_NUMBERS[network.activation]}u;`,
        `const OUTPUT_ACTIVATION = ${ACTIVATION_NUMBERS[network.outputActivation]}u;`,
      ];
    }
    case "conv": {
      const [firstAt, secondAt, denseAt, outputAt] = layOutPolicy(network, environment).map((layer) => layer.weightsAt);
      return [
        `const FIRST_CHANNELS = ${network.firstChannels}u;`,
        `const SECOND_CHANNELS = ${network.secondChannels}u;`,
        `const HIDDEN = ${network.hidden}u;`,
        `const FIRST_AT = ${firstAt}u;`,
        `const SECOND_AT = ${secondAt}u;`,
        `const DENSE_AT = ${denseAt}u;`,
        `const OUTPUT_AT = ${outputAt}u;`,
        `const ACTIVATION = ${ACTIVATION_NUMBERS[network.activation]}u;`,
      ];
    }
    case "graph": {
      const nodes = layOutGraph(environment).firstHidden + network.hiddenNodes;
      return [`const NODES = ${nodes}u;`, `const CONNECTIONS = ${network.connections}u;`];
    }
    case "direct":
      return [];
  }
}

function writeFloat(value: number): string {
  return `f32(${value})`;
}
