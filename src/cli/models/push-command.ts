import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { Name } from "../../protocol/page.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import { describeSpec } from "../infer/read-inputs.ts";
import { formatValue } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";
import type { Shell } from "../shell.ts";

interface PushOptions extends EdgeOptions {
  readonly name?: string;
  readonly data?: string;
}

const MEDIA_TYPE = "application/octet-stream";

/** `millrace models push`: an ONNX file as the next version of a model; the same bytes are the same version. */
export function pushCommand(shell: Shell): Command {
  return addEdge(new Command("push"), "scope submit")
    .description("Upload an ONNX file as the next version of a model; the same bytes are the same version")
    .argument("<file>", "an ONNX file")
    .option("--name <name>", "of the model (default: the file's)")
    .option("--data <file>", "samples with answers that its variants are measured on (safetensors)")
    .action((file: string, options: PushOptions) => push(file, options, shell));
}

async function push(file: string, options: PushOptions, shell: Shell): Promise<void> {
  const name = options.name ?? basename(file).replace(/\.onnx$/, "");
  if (!Name.safeParse(name).success) {
    throw new ProblemError("invalid-request", `${name} is no name of a model: give one by --name.`);
  }
  // Both are read first: of files that are not there nothing is sent.
  const content = await readBytes(file, shell);
  const data = options.data === undefined ? null : await readBytes(options.data, shell);
  const client = await openEdge(options, shell);
  const rawBody = { mediaType: MEDIA_TYPE, content };
  const { model, version } = await client.call(endpoints.uploadModel, { query: { name }, rawBody });
  const params = { model: model.id, version: version.version };
  const measured =
    data === null
      ? version
      : await client.call(endpoints.putVersionData, { params, rawBody: { mediaType: MEDIA_TYPE, content: data } });
  if (options.json) return shell.print(`${JSON.stringify({ model, version: measured })}\n`);
  const { inputs, outputs, summary, digest } = measured;
  const facts = renderFacts([
    ["takes", inputs.map(describeSpec).join(", ")],
    ["gives", outputs.map(describeSpec).join(", ")],
    ...(summary === null ? [] : [["parameters", formatValue(summary.parameters)] as const]),
    ...(measured.data === null ? [] : [["data", `${measured.data.rows} rows, by ${measured.data.metric}`] as const]),
    ["digest", digest],
  ]);
  shell.print(`${model.name}@${version.version}\n${facts}`);
}

async function readBytes(file: string, { folder }: Shell): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(resolve(folder, file)));
}
