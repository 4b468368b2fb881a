import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Command } from "commander";
import { installPython, type PythonProgram, startPython } from "../../bench/python-program.ts";
import { openDirectChannel } from "../../src/client/direct-channel.ts";
import { inferFrame } from "../../src/client/infer.ts";
import { sendModel } from "../../src/cli/models/send-model.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import type { ModelVersion, TensorSpec } from "../../src/protocol/models/model.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { type Tensor, typedView, unpackStrings } from "../../src/protocol/wire/tensor.ts";
import { type LocalStack, startLocalStack, waitFor } from "../e2e/local-stack.ts";

const ROOT = join(import.meta.dirname, "../..");
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const READY = "bin/rapidocr_onnxruntime";
const BUDGET_MS = 20_000;
const PLACE_MS = 300_000;
const SEED = 11;
/** Numbers that inputs of these names need, as their authors document them. */
const VALUES: Readonly<Record<string, readonly number[]>> = { sr: [16_000] };

/** A tensor as `reference.py` reads and writes it. */
interface PeerTensor {
  readonly name: string;
  readonly dtype: Tensor["dtype"];
  readonly shape: readonly number[];
  readonly bytes: string | readonly string[];
}

interface PeerRun {
  readonly outputs?: readonly PeerTensor[];
  readonly p50Ms?: number;
  readonly error?: string;
}

type Row = Record<string, unknown>;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Options {
  readonly only: string;
  readonly folder?: string;
  readonly repeats: number;
}

/** Serves files of public packages as they are, and prints a row of JSON for each, beside ONNX Runtime in Python. */
async function main(options: Options): Promise<number> {
  const requirements = await readFile(REQUIREMENTS);
  const name = `millrace-real-files-${createHash("sha256").update(requirements).digest("hex").slice(0, 16)}`;
  const environment = { folder: pathToFileURL(join(tmpdir(), name)), requirements: REQUIREMENTS, ready: READY };
  await installPython(environment, () => say("installing packages with ONNX files (once)"));
  await ensureBuilt(ROOT, say);
  const runnerVariables = () => ({
    MILLRACE_DIRECT: "0",
    MILLRACE_CPU_THREADS: "1",
    MILLRACE_GPU: process.env["MILLRACE_GPU"] ?? "none",
  });
  const stack = await startLocalStack({ runnerVariables });
  const peer = startPython(environment, new URL("reference.py", import.meta.url));
  let served = 0;
  let tried = 0;
  try {
    for (const { from, path } of await listFiles(peer, join(stack.dataDir, "exports"), options)) {
      say(`trying ${from}/${basename(path)}`);
      const row = await tryFile(stack, peer, { path, name: `file-${tried++}`, repeats: options.repeats });
      if (row["largestDifference"] !== undefined) served++;
      process.stdout.write(`${JSON.stringify({ from, file: basename(path), ...row })}\n`);
    }
  } finally {
    await peer.close();
    await stack.stop();
  }
  say(`${served} of ${tried} files were served as they are`);
  return served === tried ? 0 : 1;
}

/** Those of the folder where one is given, else of the packages and exporters. */
async function listFiles(peer: PythonProgram, exports: string, { folder, only }: Options) {
  const files =
    folder === undefined
      ? ((await peer.ask({ list: exports })) as { from: string; path: string }[])
      : (await readdir(folder)).map((name) => ({ from: basename(folder), path: join(folder, name) }));
  return files.filter(({ from, path }) => path.endsWith(".onnx") && `${from}/${basename(path)}`.includes(only));
}

interface Attempt {
  readonly path: string;
  readonly name: string;
  readonly repeats: number;
}

async function tryFile(stack: LocalStack, peer: PythonProgram, { path, name, repeats }: Attempt): Promise<Row> {
  const content = new Uint8Array(await readFile(path));
  const row: Row = { sizeBytes: content.length };
  try {
    const { version } = await upload(stack, name, path, content);
    row["backends"] = version.backends.filter(({ reason }) => reason === null).map(({ backend }) => backend);
    row["stoppedBy"] = Object.fromEntries(
      version.backends.flatMap(({ backend, reason }) => (reason === null ? [] : [[backend, reason]])),
    );
    const measured = await waitUntilPlaced(stack, name, version);
    const inputs = createSeededInputs(measured.inputs, SEED);
    row["shapes"] = Object.fromEntries(inputs.map((tensor) => [tensor.name, tensor.shape]));
    const expected = (await peer.ask({ run: path, inputs: inputs.map(toPeer), repeats })) as PeerRun;
    if (expected.outputs === undefined) return { ...row, error: `ONNX Runtime in Python: ${expected.error}` };
    const placementId = await cpuPlacement(stack, name, measured);
    const request = { model: name, budgetMs: BUDGET_MS, placementId, inputs };
    const { outputs } = await inferFrame(stack.client, request);
    const direct = openDirectChannel(stack.client, { model: name, budgetMs: BUDGET_MS });
    row["peerP50Ms"] = expected.p50Ms;
    row["httpP50Ms"] = await medianMs(repeats, () => inferFrame(stack.client, request));
    row["directP50Ms"] = await medianMs(repeats, () => direct.infer({ inputs }));
    row["largestDifference"] = largestDifference(outputs, expected.outputs);
    return row;
  } catch (error) {
    return { ...row, error: error instanceof ProblemError ? error.problem : String(error) };
  }
}

/** Uploads the file as the command line does, with numbers for inputs that need special ones. */
async function upload({ client }: LocalStack, name: string, path: string, content: Uint8Array<ArrayBuffer>) {
  const rawBody = { mediaType: "application/octet-stream", content };
  const isSmall = content.length <= LIMITS.modelBytes;
  const { inputs } = isSmall ? await client.call(endpoints.checkModel, { rawBody }) : { inputs: [] };
  const needed = inputs.filter((spec: TensorSpec) => Object.hasOwn(VALUES, spec.name));
  const values = Object.fromEntries(needed.map((spec) => [spec.name, VALUES[spec.name]]));
  const query = needed.length === 0 ? { name } : { name, values };
  return sendModel(path, client, query, { show: () => {}, clear: () => {} });
}

/** The version with the sizes that its calibration found. Throws the calibration's problem where it failed. */
async function waitUntilPlaced({ client }: LocalStack, name: string, { id }: ModelVersion) {
  const failed = await waitFor(
    `${name} to be calibrated`,
    async () => {
      const { calibrations } = await client.call(endpoints.listPlacements, { params: { model: name } });
      const latest = calibrations.find(({ modelVersionId }) => modelVersionId === id);
      return latest === undefined || latest.state === "waiting" ? undefined : latest;
    },
    PLACE_MS,
  );
  if (failed.problem !== null) throw new ProblemError(failed.problem.code, failed.problem.detail);
  const { versions } = await client.call(endpoints.getModel, { params: { model: name } });
  return versions.find((each) => each.id === id)!;
}

/** The placement that computes as ONNX Runtime in Python does. */
async function cpuPlacement({ client }: LocalStack, name: string, { id }: ModelVersion): Promise<string> {
  const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
  const found = items.find(
    ({ modelVersionId, backend, state }) => modelVersionId === id && backend === "ort-cpu" && state === "eligible",
  );
  if (found === undefined)
    throw new Error(`no placement on ort-cpu is eligible: ${JSON.stringify(items).slice(0, 600)}`);
  return found.id;
}

async function medianMs(repeats: number, work: () => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const startedMs = performance.now();
    await work();
    timesMs.push(performance.now() - startedMs);
  }
  return timesMs.toSorted((a, b) => a - b)[repeats >> 1]!;
}

function toPeer(tensor: Tensor): PeerTensor {
  const { name, dtype, shape, bytes } = tensor;
  return {
    name,
    dtype,
    shape,
    bytes: dtype === "string" ? unpackStrings(bytes) : Buffer.from(bytes).toString("base64"),
  };
}

/** 0 where all bytes are the same; else the largest difference of two numbers, or a sentence. */
function largestDifference(outputs: readonly Tensor[], expected: readonly PeerTensor[]): number | string {
  let largest = 0;
  for (const wanted of expected) {
    const got = outputs.find(({ name }) => name === wanted.name);
    if (got === undefined) return `${wanted.name} is missing`;
    if (got.shape.join() !== wanted.shape.join())
      return `${wanted.name} is [${got.shape.join()}], not [${wanted.shape.join()}]`;
    const mine = toPeer(got);
    if (JSON.stringify(mine.bytes) === JSON.stringify(wanted.bytes)) continue;
    if (wanted.dtype === "string" || got.dtype !== wanted.dtype) return `${wanted.name} differs`;
    const numbers = typedView({
      ...got,
      dtype: wanted.dtype,
      bytes: Buffer.from(wanted.bytes as string, "base64"),
    });
    typedView(got).forEach((value, at) => (largest = Math.max(largest, Math.abs(Number(value) - Number(numbers[at])))));
  }
  return largest;
}

const command = new Command("npm run test:real-files --")
  .description("Files of public packages and exporters, served as they are, beside ONNX Runtime in Python")
  .option("--only <text>", "files whose package or name has this", "")
  .option("--folder <path>", "the ONNX files of this folder instead")
  .option("--repeats <number>", "requests of each median", Number, 21)
  .parse(process.argv);
process.exit(await main(command.opts()));
