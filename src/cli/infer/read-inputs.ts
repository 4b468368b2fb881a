import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ModelVersion, TensorSpec } from "../../protocol/models/model.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { countElements, type JsonTensor, JsonTensorInput } from "../../protocol/wire/tensor.ts";
import { describeTensors } from "../../words/models.ts";
import type { Shell } from "../shell/shell.ts";
import { decodePng } from "./decode-png.ts";
import { decodeWav } from "./decode-wav.ts";
import { fitPicture, fitSound } from "./fit-input.ts";

/** Sources of inputs, by option. */
export interface InputOptions {
  readonly input?: readonly string[];
  readonly image?: string;
  readonly wav?: string;
  readonly rate?: number;
  readonly json: boolean;
}

type Inputs = Record<string, JsonTensor>;

/** Inputs by name, from options and an array; stderr shows the conversion of a file, except with --json. */
export async function readInputs(
  array: unknown,
  options: InputOptions,
  version: ModelVersion,
  shell: Shell,
): Promise<Inputs> {
  const inputs: Inputs = {};
  const { image, wav, rate, json } = options;
  const tell = (name: string, note: string) => (json ? undefined : shell.warn(`${name}: ${note}\n`));
  for (const each of options.input ?? []) {
    const [name = "", value = ""] = each.split(/=(.*)/s);
    const spec = version.inputs.find((one) => one.name === name);
    if (spec === undefined) throw unknownInput(name, version);
    const text = value.startsWith("@") ? await readFile(resolve(shell.folder, value.slice(1)), "utf8") : value;
    inputs[name] = tensorOf(parseJson(text), spec);
  }
  if (image !== undefined) {
    const spec = freeInput(version, inputs, ({ shape }) => shape.length >= 3, "--image");
    const fitted = fitPicture(decodePng(await readFile(resolve(shell.folder, image))), spec);
    inputs[spec.name] = fitted.tensor;
    tell(spec.name, fitted.note);
  }
  if (wav !== undefined) {
    const spec = freeInput(version, inputs, () => true, "--wav");
    const fitted = fitSound(decodeWav(await readFile(resolve(shell.folder, wav))), spec, rate);
    inputs[spec.name] = fitted.tensor;
    tell(spec.name, fitted.note);
  }
  if (array !== undefined) {
    const spec = freeInput(version, inputs, () => true, "the array");
    inputs[spec.name] = tensorOf(array, spec);
  }
  return inputs;
}

/** The one input that is not given yet and may be what is at hand. */
function freeInput(
  version: ModelVersion,
  given: Inputs,
  mayBe: (spec: TensorSpec) => boolean,
  what: string,
): TensorSpec {
  const [spec, other] = version.inputs.filter((each) => !(each.name in given) && mayBe(each));
  if (spec !== undefined && other === undefined) return spec;
  const names = describeTensors(version.inputs);
  throw new ProblemError("invalid-request", `It is not clear which input ${what} is for: the model takes ${names}.`);
}

/** An array or a tensor as JSON, as the input has it: a flat list is rows of it. */
function tensorOf(value: unknown, spec: TensorSpec): JsonTensor {
  const parsed = JsonTensorInput.safeParse(Array.isArray(value) ? { dtype: spec.dtype, data: value } : value);
  if (!parsed.success) {
    throw new ProblemError(
      "invalid-request",
      `The input ${spec.name} must be a JSON array, or an object with one as data.`,
    );
  }
  const { data, shape } = parsed.data;
  if (shape !== undefined || Array.isArray(data[0])) return parsed.data;
  const [rows = 1, ...sizes] = spec.shape;
  const free = sizes.some((size) => size === -1);
  const width = countElements(sizes);
  if (free || rows !== -1) return free ? parsed.data : { ...parsed.data, shape: [...spec.shape] };
  if (data.length === 0 || data.length % width !== 0) {
    throw new ProblemError(
      "invalid-request",
      `The input ${spec.name} takes rows of ${width} numbers; there are ${data.length}.`,
    );
  }
  return { ...parsed.data, shape: [data.length / width, ...sizes] };
}

function unknownInput(name: string, { inputs }: ModelVersion): ProblemError {
  return new ProblemError("invalid-request", `The model has no input ${name}; it takes ${describeTensors(inputs)}.`);
}
