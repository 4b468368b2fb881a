import * as fc from "fast-check";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkArchive } from "../../../src/cli/transfer/read-archive.ts";
import { encodingOf, unpackBody } from "../../../src/protocol/wire/content-encoding.ts";
import { checkKernelDefinition, KernelInput } from "../../../src/protocol/kernels/submitted-kernel.ts";
import { EnvironmentInput } from "../../../src/protocol/policies/environment-definition.ts";
import { JobInput } from "../../../src/protocol/jobs/job.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";
import { evaluateSize, SizeExpression, sizeNames } from "../../../src/protocol/kernels/kernel-definition.ts";
import { competitor, expecting, ownReference } from "../../edge/stack/kernel-samples.ts";
import { type CodecTarget, hold, refusedOnly } from "./codec-target.ts";
import { damaged, jsonTexts, toText, valuesOf } from "./inputs.ts";

const kernels = fc.oneof(fc.constantFrom<unknown>(competitor, ownReference, expecting), valuesOf(KernelInput));

function checkKernel(input: Uint8Array): void {
  const kernel = KernelInput.safeParse(parseJson(toText(input)));
  if (kernel.success) checkKernelDefinition(kernel.data);
}

function checkExpression(input: Uint8Array): void {
  const expression = SizeExpression.safeParse(parseJson(toText(input)));
  if (!expression.success) return;
  const sizes = Object.fromEntries(sizeNames(expression.data).map((name) => [name, 7]));
  const value = evaluateSize(expression.data, sizes);
  hold(value === null || Number.isSafeInteger(value), "a size is whole, or none");
}

/** The other fields have their own schema; here only the WGSL is changed. */
const wgsl = `struct State { at: f32 }
fn reset(random: ptr<function, Random>) -> State { return State(0f); }
fn observe(state: State) -> Observation { return Observation(state.at); } /* a comment */ // and another
fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition { return Transition(1f, false); }`;
const environment = {
  name: "counter",
  description: "Counts",
  observationSize: 1,
  action: { kind: "discrete", count: 2 },
  stepLimit: 10,
  measures: 0,
  scores: { worst: 0, best: 10, solvedAt: null },
  stateWords: 1,
};

function checkEnvironment(input: Uint8Array): void {
  EnvironmentInput.safeParse({ ...environment, wgsl: toText(input) });
}

const folder = mkdtempSync(join(tmpdir(), "millrace-fuzz-"));
process.once(
  "exit",
  () => void import("node:fs").then(({ rmSync }) => rmSync(folder, { recursive: true, force: true })),
);
const end = { kind: "end", tables: { keys: { rows: 1, digest: "x" } }, objects: { count: 0, bytes: 0 } };
const lines = [
  { kind: "millrace-export", format: 1, exportId: "trf", schemaVersion: "0", writtenAt: "now", tables: [] },
  { kind: "table", name: "keys" },
  ["a", 1],
  {
    kind: "object",
    key: "k",
    contentType: null,
    digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    base64: "",
  },
  end,
];
const exported = new Uint8Array(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));

/** The input is the content of the gzip, or, where it begins like one, the file itself. */
async function checkExport(input: Uint8Array): Promise<void> {
  const file = join(folder, "export");
  writeFileSync(file, input[0] === 0x1f ? input : gzipSync(input, { level: 1 }));
  await checkArchive(file).catch(refusedOnly);
}

/** Bodies with a content encoding: the first byte says which. */
async function checkEncoding(input: Uint8Array): Promise<void> {
  const encoding = ["gzip", "deflate", "identity", "br"][(input[0] ?? 0) % 4]!;
  const unpack = async () => {
    const known = encodingOf(encoding);
    return known === null ? undefined : unpackBody([input.slice(1)], known, LIMITS.inferBodyBytes);
  };
  const body = await unpack().catch(refusedOnly);
  if (body !== undefined) hold(body.length <= LIMITS.inferBodyBytes, "an unpacked body is bounded");
}

/** A body that says much with little. */
const bomb = gzipSync(Buffer.alloc(2 * LIMITS.inferBodyBytes));
const packed = fc
  .constantFrom(...Array.from({ length: 15 }, (_, at) => gzipSync(Buffer.alloc(at ** 3))), bomb)
  .map((bytes): Uint8Array => {
    return new Uint8Array([0, ...bytes.subarray(0, 20_000)]);
  });

/** Programs of users, jobs, and files for the command line. */
export const PROGRAM_TARGETS: readonly CodecTarget[] = [
  { name: "kernel", weight: 2, inputs: jsonTexts(kernels), check: checkKernel },
  { name: "size-expression", weight: 3, inputs: jsonTexts(valuesOf(SizeExpression)), check: checkExpression },
  {
    name: "environment",
    weight: 4,
    inputs: damaged(fc.constant(new TextEncoder().encode(wgsl))),
    check: checkEnvironment,
  },
  {
    name: "job",
    weight: 8,
    inputs: jsonTexts(valuesOf(JobInput)),
    check: (input) => void JobInput.safeParse(parseJson(toText(input))),
  },
  {
    name: "export-file",
    weight: 1,
    inputs: damaged(fc.oneof(fc.constant(exported), fc.constant(new Uint8Array(gzipSync(exported))))),
    check: checkExport,
  },
  { name: "content-encoding", weight: 1, inputs: damaged(packed), check: checkEncoding },
];
