import { Command, InvalidArgumentError } from "commander";
import { access, constants, readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { listAll } from "../../client/list-all.ts";
import { createRetry } from "../../client/retry.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { FILE_MEDIA_TYPE } from "../../protocol/models/upload.ts";
import { Name } from "../../protocol/wire/page.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { describeTensors, describeVersion } from "../../words/models.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { formatAge, formatValue, TERMINAL } from "../render/format-values.ts";
import { openProgressLine } from "../render/progress-line.ts";
import { renderFacts, renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { sendModel } from "./send-model.ts";
import { showCommand } from "./show-command.ts";

/** `millrace models list`: every model by its latest version. */
function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope read")
    .description("List models, newest first")
    .action(async (options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const models = await Array.fromAsync(listAll(client, endpoints.listModels, { query: { limit: 200 } }));
      if (options.json) return shell.print(`${JSON.stringify(models)}\n`);
      if (models.length === 0) return shell.print("No model yet: millrace models push <file.onnx>\n");
      const rows = models.map(({ name, versions }) => {
        const latest = versions.at(-1);
        if (latest === undefined) return [name, "–", "–", "–", "–", "–"];
        const { version, variants, summary, inputs, createdAt } = latest;
        const parameters = summary === null ? "–" : formatValue(summary.parameters);
        const names = variants.map((variant) => variant.name).join(", ");
        return [name, `${version}`, names, parameters, describeTensors(inputs), formatAge(createdAt)];
      });
      shell.print(
        renderTable([["name", "version", "variants", "parameters", "takes", "uploaded"], ...rows], shell.columns),
      );
    });
}

interface PushOptions extends EdgeOptions {
  readonly name?: string;
  readonly data?: string;
  readonly shape: Lists<number[]>;
  readonly values: Lists<number>;
}

/**
 * `millrace models push`: an ONNX file as the next version of a model; the same bytes are the same version. Large files go
 * in parts, and go on where an earlier push ended.
 */
function pushCommand(shell: Shell): Command {
  return addEdge(new Command("push"), "scope submit")
    .description("Upload an ONNX file as the next version of a model; the same bytes are the same version")
    .argument("<file>", "an ONNX file; files with its weights lie beside it")
    .option("--name <name>", "of the model (default: the file's)")
    .option("--data <file>", "samples with answers that its variants are measured on (safetensors)")
    .option(
      "--shape <input=sizes>",
      "measure an input at this shape, such as image=1x3x224x224; may repeat",
      addShape,
      {},
    )
    .option("--values <input=numbers>", "draw an input's numbers from these, such as rate=8000,16000", addValues, {})
    .action((file: string, options: PushOptions) => push(file, options, shell));
}

type Lists<Value> = Readonly<Record<string, readonly Value[]>>;

function addShape(text: string, before: Lists<number[]>): Lists<number[]> {
  const { name, value } = splitSetting(text, "--shape");
  const shape = value.split("x").map((size) => toNumber(size, "--shape"));
  return { ...before, [name]: [...(before[name] ?? []), shape] };
}

function addValues(text: string, before: Lists<number>): Lists<number> {
  const { name, value } = splitSetting(text, "--values");
  return { ...before, [name]: value.split(",").map((each) => toNumber(each, "--values")) };
}

/** Names of inputs may contain equals signs; sizes and numbers do not. */
function splitSetting(text: string, option: string): { readonly name: string; readonly value: string } {
  const at = text.lastIndexOf("=");
  if (at > 0) return { name: text.slice(0, at), value: text.slice(at + 1) };
  throw new InvalidArgumentError(`${option} is <input>=<...>, not ${text}.`);
}

function toNumber(text: string, option: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`${option} has ${text}, which is not a number.`);
}

/** An option that was given; undefined where no input is named. */
function orNothing<Value>(option: Lists<Value>): Lists<Value> | undefined {
  return Object.keys(option).length === 0 ? undefined : option;
}

async function push(file: string, options: PushOptions, shell: Shell): Promise<void> {
  const name = options.name ?? basename(file).replace(/\.onnx$/, "");
  if (!Name.safeParse(name).success) {
    throw new ProblemError("invalid-request", `${name} is no name of a model: give one by --name.`);
  }
  // A missing file is reported before anything is sent.
  const path = resolve(shell.folder, file);
  await access(path, constants.R_OK);
  const data = options.data === undefined ? null : await readBytes(options.data, shell);
  const client = await openEdge(options, shell, undefined, createRetry());
  const progress = openProgressLine(shell, !options.json);
  const query = { name, shapes: orNothing(options.shape), values: orNothing(options.values) };
  const { model, version } = await sendModel(path, client, query, progress).finally(() => progress.clear());
  const params = { model: model.id, version: version.version };
  const measured =
    data === null
      ? version
      : await client.call(endpoints.putVersionData, { params, rawBody: { mediaType: FILE_MEDIA_TYPE, content: data } });
  if (options.json) return shell.print(`${JSON.stringify({ model, version: measured })}\n`);
  const facts = renderFacts([...describeVersion(measured, TERMINAL), ["digest", measured.digest]]);
  shell.print(`${model.name}@${version.version}\n${facts}`);
}

async function readBytes(file: string, { folder }: Shell): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(resolve(folder, file)));
}

/** `millrace models`: networks on an edge. */
export function modelsCommand(shell: Shell = PROCESS): Command {
  return new Command("models")
    .description("Upload networks, and see where they run and how fast")
    .addCommand(pushCommand(shell))
    .addCommand(listCommand(shell))
    .addCommand(showCommand(shell));
}
