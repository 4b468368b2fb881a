import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { OrtBackend } from "../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { writeOnnxGraph } from "../../../../src/gpu-runner/devices/ort/write-onnx-graph.ts";
import { typedView } from "../../../../src/protocol/wire/tensor.ts";
import { writeExternalModel } from "../../../edge/stack/external-model.ts";

const [rows, columns] = [64, 48];
const weights = Float32Array.from({ length: rows * columns }, (_, index) => Math.sin(index));
const x = Float32Array.from({ length: 2 * rows }, (_, index) => Math.cos(index));
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-paths-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function answer(model: Parameters<OrtBackend["load"]>[1]) {
  const ort = new OrtBackend("cpu");
  await ort.load("model", model);
  const input = { name: "x", dtype: "float32" as const, shape: [2, rows], bytes: new Uint8Array(x.buffer) };
  const [y] = (await ort.run("model", [input])).tensors;
  await ort.unload("model");
  return [...typedView(y!)];
}

it("a model in several files answers as in one, and leaves no links", async () => {
  const external = { location: "w.bin", offset: "4096", length: String(weights.byteLength) };
  const own = join(folder, "a");
  const data = join(folder, "b");
  await writeFile(own, writeExternalModel([{ name: "w", dims: [rows, columns], external }]));
  await writeFile(data, Buffer.concat([new Uint8Array(4_096), new Uint8Array(weights.buffer)]));
  const whole = writeOnnxGraph({
    name: "whole",
    inputs: [{ name: "x", shape: [-1, rows] }],
    outputs: [{ name: "y", shape: [-1, columns] }],
    constants: [{ name: "w", shape: [rows, columns], values: weights }],
    nodes: [{ operator: "MatMul", inputs: ["x", "w"], output: "y" }],
  });
  await writeFile(join(folder, "c"), whole);
  const expected = await answer(whole);
  expect(await answer({ own, data: { "w.bin": data } })).toEqual(expected);
  // A process that was killed as it loaded leaves its links; those of one that lives are in use.
  const ended = spawnSync(process.execPath, ["--version"]).pid;
  const inUse = `linked-${process.pid}-abc`;
  await Promise.all([`linked-${ended}-abc`, inUse].map((name) => mkdir(join(folder, name))));
  expect(await answer({ own, data: { "w.bin": data } })).toEqual(expected);
  expect(await readdir(folder)).toEqual(["a", "b", "c", inUse]);
  await rm(join(folder, inUse), { recursive: true });
  expect(await answer({ own: join(folder, "c"), data: {} })).toEqual(expected);
  await expect(answer({ own, data: { "v.bin": data } })).rejects.toMatchObject({ problem: { code: "invalid-model" } });
  expect(await readdir(folder)).toEqual(["a", "b", "c"]);
});
