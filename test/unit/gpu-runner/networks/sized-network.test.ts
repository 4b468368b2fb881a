import { describe, expect, it } from "vitest";
import type { Network } from "../../../../src/gpu-runner/networks/network.ts";
import type { NetworkPlan } from "../../../../src/gpu-runner/networks/plan-network.ts";
import { SizedNetwork } from "../../../../src/gpu-runner/networks/sized-network.ts";
import type { OnnxModel, OnnxNode, OnnxValue } from "../../../../src/onnx/onnx-model.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../../src/protocol/wire/tensor.ts";

const value = (name: string, ...shape: (number | string)[]): OnnxValue => ({ name, dtype: "float32", shape });
const tensor = (name: string, ...shape: number[]): Tensor => {
  const words = shape.reduce((product, size) => product * size, 1);
  return { name, dtype: "float32", shape, bytes: new Uint8Array(4 * words) };
};

function modelOf(operator: string, inputs: OnnxValue[], output: OnnxValue): OnnxModel {
  const names = inputs.map(({ name }) => name);
  const node: OnnxNode = {
    name: "",
    operator,
    domain: "",
    inputs: names,
    outputs: [output.name],
    attributes: new Map(),
  };
  const concat = operator === "Concat" ? new Map([["axis", { kind: "int", value: 0 } as const]]) : new Map();
  return {
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name: "net",
    weights: new Map(),
    inputs,
    outputs: [output],
    nodes: [{ ...node, attributes: concat }],
  };
}

/** A network whose plans are recorded, and run as the test says. */
function open(model: OnnxModel, run: (plan: NetworkPlan) => Promise<void> = async () => {}) {
  const plans: NetworkPlan[] = [];
  let [live, mostLive] = [0, 0];
  const network = new SizedNetwork(model, async (plan) => {
    plans.push(plan);
    mostLive = Math.max(mostLive, ++live);
    return {
      run: () => run(plan).then(() => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } })),
      close: async () => void live--,
    } as unknown as Network;
  });
  return { network, plans, live: () => live, mostLive: () => mostLive };
}

describe("a plan for any number of rows", () => {
  it("is not used for inputs whose rows differ", async () => {
    const model = modelOf("Add", [value("a", "n", "s"), value("b", "m", "s")], value("y", "k", "s"));
    const { network, plans } = open(model);
    await network.run([tensor("a", 3, 4), tensor("b", 3, 4)]);
    await network.run([tensor("a", 5, 4), tensor("b", 5, 4)]);
    await network.run([tensor("a", 3, 4), tensor("b", 1, 4)]);
    expect(plans.map(({ isFixed }) => isFixed)).toEqual([false, true]);
  });
});

it("an input without elements is not taken for another one", async () => {
  const { network, plans } = open(modelOf("Concat", [value("a", "n"), value("b", "m")], value("y", "k")));
  await network.run([tensor("a", 0), tensor("b", 3)]);
  await network.run([tensor("a", 3), tensor("b", 0)]);
  expect(plans.map(({ inputs }) => inputs.map(({ name }) => name))).toEqual([["b"], ["a"]]);
});

describe("a plan", () => {
  const model = modelOf("Relu", [value("x", "n", "s")], value("y", "n", "s"));

  it("whose run fails on the device is made anew for the next request", async () => {
    let problem: ProblemError | null = new ProblemError("backend-failed", "Its buffers are invalid.");
    const { network, plans, live } = open(model, async () => {
      if (problem !== null) throw problem;
    });
    await expect(network.run([tensor("x", 2, 4)])).rejects.toThrow("invalid");
    expect(live()).toBe(0);
    problem = null;
    await network.run([tensor("x", 2, 4)]);
    problem = new ProblemError("invalid-request", "Too large.");
    await expect(network.run([tensor("x", 2, 4)])).rejects.toThrow("Too large");
    expect([plans.length, live()]).toEqual([2, 1]);
    await network.forgetLatest();
    expect(live()).toBe(0);
  });

  it("leaves before there are too many", async () => {
    const { network, plans, live, mostLive } = open(model);
    for (const size of [1, 2, 3, 4, 5, 1]) await network.run([tensor("x", 2, size)]);
    expect([plans.length, live(), mostLive()]).toEqual([6, 4, 4]);
    await network.close();
    expect(live()).toBe(0);
  });
});
