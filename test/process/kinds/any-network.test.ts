/** Networks as users bring them, calibrated on the CPU by a real process: what the file alone does not say is measured. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { tmpdir } from "node:os";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkModel } from "../../../src/edge/models/check-model.ts";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { runCalibration } from "../../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import { ModelLoader } from "../../../src/gpu-runner/serving/model-loader.ts";
import { InferenceServer } from "../../../src/gpu-runner/serving/queue/inference-server.ts";
import { finishSteps } from "../../../src/onnx/each-field.ts";
import type { OnnxAttribute, OnnxModel, OnnxNode } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeMessage, writeModel, writeNode, writeValue } from "../../../src/onnx/write-model.ts";
import { CalibrationResult, CalibrationSpec } from "../../../src/protocol/jobs/calibration.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { floatValue, modelOf, nodeOf } from "../../unit/onnx/model-of.ts";

/** A calibration starts many processes. */
const TIMEOUT_MS = 600_000;
const logger = pino({ level: "silent" });
let host: DeviceHost;
beforeAll(async () => {
  host = await DeviceHost.start({ role: "cpu", deviceKey: "cpu", cacheDir: tmpdir(), logger });
});
afterAll(() => host.stop());

/** Checks a network as the edge does, and calibrates it as a runner does. */
async function calibrate(model: OnnxModel, changes: Partial<CalibrationSpec> = {}): Promise<CalibrationResult> {
  const file = writeModel(model);
  const checked = finishSteps(checkModel(file));
  if (!checked.ok) throw new Error(checked.problems[0]?.message);
  const { inputs, outputs } = checked;
  const modelVersionId = createId("modelVersion");
  const device = { host, server: new InferenceServer(host) };
  const context = {
    fleet: { all: () => [device], cpu: device },
    models: new ModelLoader({ keep: () => {}, read: async () => file }, logger),
    probe: { measureMs: async () => [1] },
    model: { modelVersionId, variants: [{ name: "fp32", digest: `sha256:${"0".repeat(64)}` }], inputs, outputs },
    edge: null,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const limits = { iterations: 10, maxRows: 2, timeoutMs: TIMEOUT_MS };
  const spec = CalibrationSpec.parse({ kind: "calibration", modelVersionId, ...limits, ...changes });
  const { result } = await runCalibration(spec, context as never);
  return CalibrationResult.parse(result);
}

/** An attribute with a graph of its own, which computes this output from values around it. */
function graphOf(name: string, nodes: readonly OnnxNode[], output: string): OnnxAttribute {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(name);
  writeMessage(writer, 6, (graph) => {
    for (const node of nodes) writeMessage(graph, 1, (body) => writeNode(body, node));
    graph.tag(2, WireType.LengthDelimited).string(name);
    writeMessage(graph, 12, (body) => writeValue(body, floatValue(output, ["n", 4])));
  });
  writer.tag(20, WireType.Varint).int32(GRAPH);
  return { kind: "other", message: writer.finish() };
}

/** AttributeProto.AttributeType. */
const GRAPH = 5;

test("a network with a skip connection is measured at sizes that it takes", { timeout: TIMEOUT_MS }, async () => {
  const ints = (value: readonly number[]): OnnxAttribute => ({ kind: "ints", value });
  const { shapes, placements } = await calibrate(
    modelOf({
      inputs: [floatValue("x", ["n", 1, "height", "width"])],
      nodes: [
        nodeOf("MaxPool", ["x"], ["small"], { kernel_shape: ints([2, 2]), strides: ints([2, 2]) }),
        nodeOf("Resize", ["small", "", "scales"], ["large"]),
        nodeOf("Add", ["x", "large"], ["y"]),
      ],
      tensors: [floatTensor("scales", [4], Float32Array.of(1, 1, 2, 2))],
      outputs: [floatValue("y", ["n", 1, "height", "width"])],
    }),
  );
  expect(shapes).toEqual({
    x: [
      [1, 1, 32, 32],
      [1, 1, 64, 64],
    ],
  });
  expect(placements).toMatchObject([{ agrees: true, sizes: [{ elements: 64 ** 2 }] }]);
});

test(
  "a network that branches on its data, and one whose sizes depend on them, are served",
  { timeout: TIMEOUT_MS },
  async () => {
    const branches = modelOf({
      nodes: [
        nodeOf("ReduceSum", ["x"], ["sum"], { keepdims: 0 }),
        nodeOf("Greater", ["sum", "one"], ["isLarge"]),
        nodeOf("If", ["isLarge"], ["y"], {
          then_branch: graphOf("then_branch", [nodeOf("Neg", ["x"], ["negative"])], "negative"),
          else_branch: graphOf("else_branch", [nodeOf("Exp", ["x"], ["power"])], "power"),
        }),
      ],
      tensors: [{ ...floatTensor("one", [], Float32Array.of(1)) }],
    });
    const distinct = modelOf({
      nodes: [nodeOf("Unique", ["x"], ["y"])],
      outputs: [floatValue("y", ["distinct"])],
    });
    for (const network of [branches, distinct]) {
      expect((await calibrate(network)).placements).toMatchObject([{ agrees: true }]);
    }
  },
);

test("operators of ONNX Runtime's own domains are served", { timeout: TIMEOUT_MS }, async () => {
  const fused = { ...nodeOf("FusedMatMul", ["x", "w"], ["h"]), domain: "com.microsoft" };
  const scaled = {
    ...nodeOf("Scaler", ["h"], ["y"], {
      offset: { kind: "floats", value: [0] },
      scale: { kind: "floats", value: [2] },
    }),
    domain: "ai.onnx.ml",
  };
  const model = modelOf({ nodes: [fused, scaled], tensors: [floatTensor("w", [4, 4], new Float32Array(16).fill(1))] });
  const domains = new Map([
    ["com.microsoft", 1],
    ["ai.onnx.ml", 3],
  ]);
  expect((await calibrate({ ...model, domains })).placements).toMatchObject([{ agrees: true }]);
});

test("a network that takes no generated numbers says which it needs", { timeout: TIMEOUT_MS }, async () => {
  const picks = (dtype: "int64") =>
    modelOf({
      inputs: [{ name: "x", dtype, shape: ["n", "items"] }],
      nodes: [nodeOf("Gather", ["table", "x"], ["y"])],
      tensors: [integerTensor("table", [7])],
      outputs: [{ name: "y", dtype: "int64", shape: ["n", "items"] }],
    });
  await expect(calibrate(picks("int64"))).rejects.toThrow(/give `shapes` and `values`.*indices element out of data/);
});
