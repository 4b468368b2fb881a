import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../protocol/models/model.ts";
import { OIP_DATATYPES, OipModel } from "../../protocol/inference/oip.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type DType, tensorToJson } from "../../protocol/wire/tensor.ts";
import { readJson } from "../shell/read-json.ts";
import type { Shell } from "../shell/shell.ts";
import {
  type Carrier,
  cutBody,
  fillBody,
  parseCarrier,
  parsePlace,
  type Place,
  type Template,
  writeDuration,
} from "./carry-value.ts";

/** Options that say what is asked, and how. */
export interface TargetOptions {
  readonly url: string;
  readonly model?: string;
  readonly path?: string;
  readonly method: string;
  readonly body?: string;
  readonly rows: number;
  readonly header: readonly string[];
  readonly keyFile?: string;
  readonly deadline: string;
  readonly retryKey?: string;
  readonly reset: boolean;
}

/** What is asked: one request, whose deadline and retry key differ each time. */
export interface Target {
  readonly url: URL;
  readonly method: string;
  /** Whether a deadline reaches the server. */
  readonly hasDeadline: boolean;
  /** Whether a retry can be recognised by a key. */
  readonly hasRetryKey: boolean;
  /** Headers and body of one request; a deadline that cannot travel is left out. */
  readonly write: (deadlineMs: number, key: string) => { headers: Record<string, string>; body: string | null };
}

/** Resolves the options into a target; for `--model` it reads the model's metadata. Throws `invalid-request`. */
export async function openTarget(options: TargetOptions, shell: Shell): Promise<Target> {
  const base = readUrl(options.url);
  if ((options.model === undefined) === (options.path === undefined)) {
    throw new ProblemError("invalid-request", "Either --model or --path must say what is asked.");
  }
  if (options.reset && base.protocol === "https:") {
    throw new ProblemError("invalid-request", "--reset is for plain HTTP: a reset is no end of a TLS connection.");
  }
  const carrier = parseCarrier(options.deadline);
  const keyPlace = options.retryKey === undefined ? null : parsePlace(options.retryKey, "--retry-key");
  const fixed = await readHeaders(options, shell);
  const path = options.path ?? `/v2/models/${encodeURIComponent(options.model!)}/infer`;
  const url = new URL(path.replace(/^\//, ""), base.href.endsWith("/") ? base : `${base.href}/`);
  if (url.origin !== base.origin) throw new ProblemError("invalid-request", "--path must be a path of --url.");
  const content = await readBody(options, base, fixed, shell);
  const template = cutTemplate(content, carrier, keyPlace);
  return {
    url,
    method: options.method,
    hasDeadline: carrier !== null,
    hasRetryKey: keyPlace !== null,
    write: (deadlineMs, key) => {
      const headers = { ...fixed };
      const duration = carrier === null ? "" : String(writeDuration(deadlineMs, carrier.unit));
      if (carrier?.place.kind === "header") headers[carrier.place.name] = duration;
      if (keyPlace?.kind === "header") headers[keyPlace.name] = key;
      return { headers, body: template && fillBody(template, [duration, JSON.stringify(key)]) };
    },
  };
}

function readUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new ProblemError("invalid-request", `--url ${text} is no address such as http://127.0.0.1:8000.`);
}

/** Fixed headers in lower case. */
async function readHeaders({ header, keyFile }: TargetOptions, { folder }: Shell): Promise<Record<string, string>> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  for (const line of header) {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new ProblemError("invalid-request", `--header ${line} must be like "x-name: value".`);
    }
    headers[name.toLowerCase()] = value;
  }
  if (keyFile === undefined) return headers;
  return { ...headers, authorization: `Bearer ${(await readFile(resolve(folder, keyFile), "utf8")).trim()}` };
}

async function readBody(
  { body, model, rows }: TargetOptions,
  base: URL,
  headers: Record<string, string>,
  shell: Shell,
): Promise<unknown> {
  if (body !== undefined) return readJson(body, shell);
  return model === undefined ? undefined : { inputs: await makeInputs(base, model, rows, headers, shell) };
}

/** Seeded tensors for a model by its metadata: free first sizes are the rows, other free sizes are 1. */
async function makeInputs(base: URL, model: string, rows: number, headers: Record<string, string>, { fetch }: Shell) {
  const url = new URL(`v2/models/${encodeURIComponent(model)}`, base.href.endsWith("/") ? base : `${base.href}/`);
  // A redirect would lead to a server that was not named.
  const reply = await fetch(url, { headers, redirect: "manual" }).catch(() => {
    throw new ProblemError("internal", `${base.href} cannot be reached`);
  });
  const text = await reply.text();
  const metadata = OipModel.pick({ inputs: true }).safeParse(parseJson(text));
  if (!reply.ok || !metadata.success || metadata.data.inputs.length === 0) {
    const told = text.replaceAll(/\s+/g, " ").slice(0, 200);
    const detail = `${url.href} answered ${reply.status} without the inputs of a model (${told}): name a --body`;
    throw new ProblemError(reply.status === 401 ? "unauthorized" : "invalid-request", detail);
  }
  const specs = metadata.data.inputs.map(({ name, datatype, shape }): TensorSpec => {
    const [dtype] = Object.entries(OIP_DATATYPES).find(([, oip]) => oip === datatype)!;
    return {
      name,
      dtype: dtype as DType,
      shape,
      shapes: [shape.map((size, axis) => (size === -1 && axis === 0 ? rows : Math.max(1, size)))],
    };
  });
  return createSeededInputs(specs, 1).map((tensor) => {
    const { shape, data } = tensorToJson(tensor);
    return { name: tensor.name, datatype: OIP_DATATYPES[tensor.dtype], shape, data };
  });
}

/** Cuts the body for the values that travel in it; null for a request without a body. */
function cutTemplate(content: unknown, carrier: Carrier | null, keyPlace: Place | null): Template | null {
  const places = [carrier?.place, keyPlace];
  if (content === undefined) {
    if (places.some((place) => place?.kind === "body")) {
      throw new ProblemError("invalid-request", "A value that travels in the body needs a --body.");
    }
    return null;
  }
  const carried = places.map((place) => (place?.kind === "body" ? place.path : null));
  const paths = carried.filter((path) => path !== null);
  const { parts, holes } = cutBody(content, paths, "--deadline and --retry-key");
  // Back to the places of deadline and key.
  const order = carried.flatMap((path, index) => (path === null ? [] : [index]));
  return { parts, holes: holes.map((hole) => order[hole]!) };
}
