/** Prints ONNX Runtime's answers for each of the zoo's networks, in its own process: a line with a digest each. */
import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { readModel } from "../../src/onnx/read-model.ts";
import { readSignature } from "../../src/edge/models/read-signature.ts";
import { OrtBackend } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";

const ort = new OrtBackend("cpu");
const folder = new URL("../../models/", import.meta.url);
for (const name of (await Array.fromAsync(glob("*/*.onnx", { cwd: folder }))).toSorted()) {
  const file = await readFile(new URL(name, folder));
  const signature = readSignature(readModel(file));
  if (!signature.ok) throw new Error(`${name}: ${signature.messages.join()}`);
  await ort.load("zoo", file);
  const digest = createHash("sha256");
  // Several times: memory freed by one run is reused by the next.
  for (const seed of [1, 2, 3]) {
    const { tensors } = await ort.run("zoo", createSeededInputs(signature.inputs, seed));
    for (const { bytes } of tensors) digest.update(bytes);
  }
  console.log(`${name} ${digest.digest("hex")}`);
}
