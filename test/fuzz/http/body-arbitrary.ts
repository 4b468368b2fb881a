import * as fc from "fast-check";
import { encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { changedBytes } from "../changed-bytes.ts";
import { EXAMPLE_BODIES } from "./example-bodies.ts";
import type { Operation } from "./operation.ts";
import type { SchemaArbitraries } from "../schema-arbitraries.ts";
import { hostileValue, spoiled } from "../spoil-value.ts";

/** One byte more than an ordinary JSON body may have. */
const OVERSIZED = new Uint8Array(256 * 1_024 + 1).fill(0x20);
const FRAME = "application/vnd.millrace.frame";
const ODD_TYPES = [
  "",
  "text/plain",
  "application/json; charset=utf-16",
  "APPLICATION/JSON",
  "multipart/form-data",
  "*/*",
];

/** JSON texts that no value makes: they end early, repeat names, go beyond numbers, or are no UTF-8. */
const ODD_TEXTS = [
  "",
  "{",
  '{"a":1,"a":2}',
  '{"a":1e999}',
  "[1,]",
  "NaN",
  '"\\ud800"',
  "\u0000",
  "\ufeff{}",
  "[".repeat(50_000),
  `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  `[${"0,".repeat(60_000)}0]`,
];

export interface FuzzBody {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Bodies for an operation; null where none is sent. */
export function bodiesOf(
  { operationId, requestBody }: Operation,
  { schemas, files }: { readonly schemas: SchemaArbitraries; readonly files: readonly Uint8Array[] },
): fc.Arbitrary<FuzzBody | null> {
  const unasked = fc.oneof({ arbitrary: fc.constant(null), weight: 20 }, withType(garbage(files), "text/plain"));
  if (requestBody === undefined) return unasked;
  const meant = Object.entries(requestBody.content).map(([type, { schema }]) =>
    type.endsWith("json") ? jsonBodies(ofBody(operationId, schemas.of(schema)), type) : rawBodies(type, files),
  );
  return fc.oneof(
    { arbitrary: fc.oneof(...meant), weight: 300 },
    { arbitrary: withOddType(fc.oneof(...meant)), weight: 10 },
    { arbitrary: withType(fc.constant(OVERSIZED), Object.keys(requestBody.content)[0] ?? ""), weight: 1 },
    { arbitrary: fc.constant(null), weight: 10 },
  );
}

/** Values that a body may have; examples among them, where there are any. */
function ofBody(operationId: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const examples = EXAMPLE_BODIES[operationId];
  return examples === undefined ? values : fc.oneof(values, fc.constantFrom(...examples));
}

function jsonBodies(values: fc.Arbitrary<unknown>, type: string): fc.Arbitrary<FuzzBody> {
  const texts = (value: fc.Arbitrary<unknown>) => value.map((each) => toBytes(JSON.stringify(each) ?? ""));
  const bytes = fc.oneof(
    { arbitrary: texts(values), weight: 16 },
    { arbitrary: texts(spoiled(values)), weight: 12 },
    { arbitrary: texts(hostileValue), weight: 2 },
    { arbitrary: fc.constantFrom(...ODD_TEXTS).map(toBytes), weight: 1 },
    { arbitrary: changedBytes(texts(values)), weight: 2 },
  );
  return withType(bytes, type);
}

function rawBodies(type: string, files: readonly Uint8Array[]): fc.Arbitrary<FuzzBody> {
  const frames = fc
    .tuple(fc.jsonValue({ maxDepth: 2 }), fc.uint8Array({ maxLength: 64 }))
    .map(([header, bytes]) =>
      encodeFrame({ ...(Object(header) as object), budgetMs: 50, model: "cartpole" }, [
        { name: "observation", dtype: "uint8", shape: [bytes.length], bytes },
      ]),
    );
  const meant = type === FRAME ? frames : fc.constantFrom(...files);
  return withType(fc.oneof(meant, changedBytes(meant), garbage(files)), type);
}

function garbage(files: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  return fc.oneof(fc.uint8Array({ maxLength: 200 }), changedBytes(fc.constantFrom(...files)));
}

function withType(bytes: fc.Arbitrary<Uint8Array>, type: string): fc.Arbitrary<FuzzBody> {
  return bytes.map((each) => ({ bytes: each, headers: type === "" ? {} : { "content-type": type } }));
}

function withOddType(bodies: fc.Arbitrary<FuzzBody>): fc.Arbitrary<FuzzBody> {
  return fc.tuple(bodies, fc.constantFrom(...ODD_TYPES)).map(([{ bytes }, type]) => ({
    bytes,
    headers: { "content-type": type },
  }));
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
