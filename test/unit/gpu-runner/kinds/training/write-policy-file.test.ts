import { describe, expect, it } from "vitest";
import { applyDense } from "../../../../../kernels/rollout/dense.reference.ts";
import { openGraph } from "../../../../../kernels/rollout/graph.reference.ts";
import { countParameters, layOutPolicy, spreadAction } from "../../../../../kernels/rollout/policy-layout.ts";
import { describeModel } from "../../../../../src/edge/models/describe-model.ts";
import { startPolicy } from "../../../../../src/gpu-runner/training/start-policy.ts";
import { writePolicyFile } from "../../../../../src/gpu-runner/kinds/training/write-policy-file.ts";
import { OrtBackend } from "../../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { PolicyNetwork } from "../../../../../src/protocol/models/policy-network.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";

const STEERED = { kind: "continuous", size: 2, low: -3, high: 1 } as const;
const CHOSEN = { kind: "discrete", count: 3 } as const;

const ort = new OrtBackend("cpu");

async function run(file: Uint8Array, observation: Float32Array): Promise<Float32Array> {
  await ort.load("policy", file);
  const bytes = new Uint8Array(observation.buffer);
  const tensor: Tensor = { name: "observation", dtype: "float32", shape: [1, observation.length], bytes };
  const [output] = (await ort.run("policy", [tensor])).tensors;
  return new Float32Array(output!.bytes.slice().buffer);
}

describe.each([
  ["discrete", CHOSEN],
  ["continuous", STEERED],
] as const)("the file of a policy with %s actions", (_, action) => {
  it.each(["none", "tanh", "sigmoid", "relu"])("computes what the kernel does, behind %s", async (outputActivation) => {
    const environment = { name: "sample", observationSize: 5, action };
    const network = PolicyNetwork.parse({ kind: "mlp", hidden: [7, 4], activation: "relu", outputActivation });
    const row = Float32Array.from(startPolicy(network, environment, 4), (x, index) => x + Math.sin(index) / 3);
    const file = writePolicyFile(environment, network, row)!;
    const observation = Float32Array.of(0.3, -1, 2, 0.7, -0.2);
    if (network.kind !== "mlp") throw new TypeError("it is one");
    const { base, spread } = spreadAction(network, action);
    const outputs = applyDense(layOutPolicy(network, environment), row, Float64Array.from(observation));
    const wanted = Array.from(outputs, (y) => base + spread * y);
    const found = await run(file, observation);
    expect(found.length).toBe(wanted.length);
    for (const [index, value] of wanted.entries()) expect(found[index]).toBeCloseTo(value, 5);
    expect(await describeModel(file)).toMatchObject({
      outputs: [{ name: action.kind === "discrete" ? "logits" : "action" }],
      edgeParameters: expect.any(Number),
    });
  });
});

describe("a policy that is no dense network", () => {
  it.each(["conv", "direct"])("has no file: %s", (kind) => {
    const environment = { name: "sample", observationSize: 4 * 84 * 84, action: CHOSEN };
    const network = PolicyNetwork.parse({ kind });
    const row = new Float32Array(countParameters(network, environment));
    expect(writePolicyFile(environment, network, row)).toBeNull();
  });
});

describe("the file of a graph", () => {
  /** Inputs 0 to 2, bias 3, then outputs, then hidden nodes. */
  const wired = (action: typeof CHOSEN | typeof STEERED) => {
    const first = 4 + (action.kind === "discrete" ? action.count : action.size);
    const connections = [
      [0, first, 0.7],
      [3, first, -0.2],
      [first, first + 1, 1.1],
      [1, first + 1, -0.4],
      // The second hidden node is passed on beside the first; the last output has nothing.
      [first, 4, 0.9],
      [first + 1, 4, -1.3],
      [2, 5, 0.8],
      [3, 5, 0.1],
    ];
    return Float32Array.of(connections.length, ...connections.flat(), ...new Float32Array(12));
  };

  it.each([
    ["discrete", CHOSEN],
    ["continuous", STEERED],
  ] as const)("computes what the kernel does, with %s actions", async (_, action) => {
    const environment = { name: "sample", observationSize: 3, action };
    const network = { kind: "graph", hiddenNodes: 4, connections: 12 } as const;
    const row = wired(action);
    const file = writePolicyFile(environment, network, row)!;
    const observation = Float32Array.of(0.3, -1, 0.7);
    const { base, spread } = spreadAction(network, action);
    const wanted = Array.from(
      openGraph(environment, network, row)(Float64Array.from(observation)),
      (y) => base + spread * y,
    );
    const found = await run(file, observation);
    expect(found.length).toBe(wanted.length);
    for (const [index, value] of wanted.entries()) expect(found[index]).toBeCloseTo(value, 5);
    // It is no chain of layers, so that the edge leaves it to runners.
    expect(await describeModel(file)).toMatchObject({ edgeParameters: null });
  });
});

it("there is no file where there is no network", () => {
  const environment = { name: "sample", observationSize: 5, action: CHOSEN };
  expect(writePolicyFile(environment, { kind: "direct" }, new Float32Array(3))).toBeNull();
});
