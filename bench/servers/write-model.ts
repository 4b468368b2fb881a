/** Writes the network that all servers of the conformance table serve: `node bench/servers/write-model.ts <file>`. */
import { writeFile } from "node:fs/promises";
import { createInput, writeModel } from "../goodput/served-models.ts";
import { OIP_DATATYPES } from "../../src/protocol/inference/oip.ts";
import { tensorToJson } from "../../src/protocol/wire/tensor.ts";

const [modelFile = "vision.onnx", bodyFile = "vision.json"] = process.argv.slice(2);
await writeFile(modelFile, writeModel("vision"));
const inputs = createInput("vision", 1).map((tensor) => {
  const { shape, data } = tensorToJson(tensor);
  return { name: tensor.name, datatype: OIP_DATATYPES[tensor.dtype], shape, data };
});
await writeFile(bodyFile, `${JSON.stringify({ inputs })}\n`);
