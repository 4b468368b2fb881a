/** Runs networks on a device with small limits that compiles no tiles, and prints each outcome as a line of JSON. */
import type { OnnxModel, OnnxNode } from "../../../../src/onnx/onnx-model.ts";
import { floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { BufferPool } from "../../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu, readLimits } from "../../../../src/gpu-runner/devices/gpu/device.ts";
import { WgslBackend } from "../../../../src/gpu-runner/networks/wgsl-backend.ts";
import { toProblem } from "../../../../src/protocol/wire/problem.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
Object.defineProperty(device, "limits", {
  value: { ...readLimits(device.limits), maxStorageBufferBindingSize: 2 ** 20 },
});
const compile = device.createComputePipelineAsync.bind(device);
let triedTiles = false;
device.createComputePipelineAsync = async (descriptor) => {
  if (descriptor.compute.entryPoint !== "main") return compile(descriptor);
  triedTiles = true;
  throw new Error("The driver does not compile it.");
};
const pool = new BufferPool(device);
const models = new WgslBackend(gpu, { device, pool });

const node = (operator: string, inputs: string[], output: string): OnnxNode => ({
  name: "",
  operator,
  domain: "",
  inputs,
  outputs: [output],
  attributes: new Map(),
});
function multiply(rows: number | string, columns: number | string, width: number): Uint8Array {
  const model: OnnxModel = {
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name: "net",
    nodes: [node("MatMul", ["x", "w"], "y")],
    weights: new Map([["w", floatTensor("w", [width, width], new Float32Array(width * width).fill(1))]]),
    inputs: [{ name: "x", dtype: "float32", shape: [rows, columns, width] }],
    outputs: [{ name: "y", dtype: "float32", shape: [rows, columns, width] }],
  };
  return writeModel(model);
}

async function report(work: () => Promise<unknown>): Promise<void> {
  triedTiles = false;
  const problem = await work().then(() => null, toProblem);
  // A buffer is released once the run before has ended.
  await new Promise((resolve) => void setImmediate(resolve));
  const code = problem?.code ?? null;
  console.log(JSON.stringify({ code, triedTiles, liveBytes: pool.counters.liveBytes }));
}

const ask = (shape: number[]) => {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  return models.run("net", [{ name: "x", dtype: "float32", shape, bytes: new Uint8Array(values.buffer) }]);
};

await report(() => models.load("net", multiply("rows", 1_100, 256)));
await report(() => models.load("net", multiply("rows", "columns", 256)));
await report(() => ask([1, 2, 256]));
await report(() => ask([1, 1_100, 256]));
await report(() => ask([1, 2, 256]));
await report(() => ask([1, 40, 256]));
const write = device.queue.writeBuffer.bind(device.queue);
device.queue.writeBuffer = () => {
  throw new Error("The device has no room.");
};
await report(() => ask([1, 3, 256]));
device.queue.writeBuffer = write;
await report(() => ask([1, 3, 256]));
device.destroy();
