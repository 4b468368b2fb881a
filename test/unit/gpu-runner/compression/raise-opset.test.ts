import { describe, expect, it } from "vitest";
import { raiseOpset } from "../../../../src/gpu-runner/compression/raise-opset.ts";
import type { OnnxAttribute, OnnxModel } from "../../../../src/onnx/onnx-model.ts";
import { answerNetwork } from "./answer-network.ts";
import { drawValues } from "./small-networks.ts";

/** One node on [rows, 3, 4] of an older opset. */
function oneNode(opset: number, operator: string, attributes: Record<string, OnnxAttribute>, outputs = 1): OnnxModel {
  const names = Array.from({ length: outputs }, (_, index) => `y${index}`);
  const shape = ["rows", 3, 4];
  return {
    irVersion: 6,
    opset,
    domains: new Map(),
    name: "one",
    nodes: [
      {
        name: "",
        operator,
        domain: "",
        inputs: ["x"],
        outputs: names,
        attributes: new Map(Object.entries(attributes)),
      },
    ],
    weights: new Map(),
    inputs: [{ name: "x", dtype: "float32", shape }],
    outputs: [{ name: "y0", dtype: "float32", shape: operator === "Unsqueeze" ? ["", "", "", ""] : ["", "", ""] }],
  };
}

const ints = (...value: number[]): OnnxAttribute => ({ kind: "ints", value });
const int = (value: number): OnnxAttribute => ({ kind: "int", value });

describe("raiseOpset", () => {
  it.for([
    ["ReduceSum", 11, { axes: ints(1) }, 1],
    ["ReduceMean", 13, { axes: ints(2) }, 1],
    ["ReduceMax", 12, { axes: ints(-1) }, 1],
    ["Unsqueeze", 11, { axes: ints(1) }, 1],
    ["Softmax", 11, { axis: int(2) }, 1],
    ["Split", 11, { axis: int(1), split: ints(1, 2) }, 2],
    ["Split", 13, { axis: int(2) }, 2],
    ["Relu", 11, {}, 1],
  ] as const)("has %s of opset %i answer as before", async ([operator, opset, attributes, outputs]) => {
    const model = oneNode(opset, operator, attributes, outputs);
    const x = new Map([["x", { dims: [2, 3, 4], data: [...drawValues(24, 1)] }]]);
    const before = await answerNetwork(model, x);
    for (const wanted of [13, 21]) {
      const raised = raiseOpset(model, wanted);
      expect(raised.opset).toBe(Math.max(wanted, opset));
      expect(await answerNetwork(raised, x)).toEqual(before);
    }
  });

  it("changes nothing that is new enough", () => {
    const model = oneNode(17, "Relu", {});
    expect(raiseOpset(model, 13)).toBe(model);
  });

  it.for([
    ["Softmax", 11, { axis: int(1) }, "over more than the last axis"],
    ["Softmax", 11, {}, "over more than the last axis"],
    ["GroupNormalization", 18, {}, "scales groups"],
    ["Relu", 10, {}, "opset 10"],
    ["If", 12, { then_branch: { kind: "other", message: new Uint8Array() } }, "has a graph of its own"],
  ] as const)("refuses %s of opset %i where %o cannot be said", ([operator, opset, attributes, why]) => {
    expect(() => raiseOpset(oneNode(opset, operator, attributes), 21)).toThrow(why);
  });
});
