import * as fc from "fast-check";
import { bodiesOf } from "./body-arbitrary.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { KnownValues } from "./known-values.ts";
import type { Operation, Parameter } from "./operation.ts";
import type { SchemaArbitraries } from "../schema-arbitraries.ts";
import { hostileValue, spoiled } from "../spoil-value.ts";

/** Credentials of callers: with all rights, too few, none, and nonsense. */
export interface Secrets {
  readonly admin: string;
  readonly reader: string;
  readonly runner: string;
}

export interface RequestParts {
  readonly schemas: SchemaArbitraries;
  readonly known: KnownValues;
  readonly secrets: Secrets;
  /** Bodies that are no JSON, to be changed. */
  readonly files: readonly Uint8Array[];
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "PROPFIND"];
const ODD_PATHS = [
  (path: string) => `${path}/`,
  (path: string) => path.replace("/", "//"),
  (path: string) => path.toUpperCase(),
  (path: string) => `${path}/..`,
  (path: string) => `${path}/%2e%2e/%2e%2e/health`,
  (path: string) => `${path}%00`,
  (path: string) => `${path}%ff%fe`,
  (path: string) => `${path};x=1`,
  (path: string) => `/v2${path}`,
  (path: string) => `${path}/${"x".repeat(4_000)}`,
];
const ODD_QUERIES = [
  "?",
  "?&&&",
  "?=",
  "?a",
  "?%",
  "?%zz=%ff",
  "?limit=1&limit=x",
  "?limit[]=1",
  "?__proto__=1",
  "?x=%00",
];
/** Headers that an intermediary may read, with nonsense values. */
const ODD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { "content-encoding": "gzip" },
  { "content-encoding": "br" },
  { accept: "*/*;q=abc, text/csv;q=0.9, application/vnd.apache.parquet" },
  { accept: "text/csv" },
  { accept: "application/vnd.apache.parquet" },
  { "accept-encoding": "gzip;q=0, deflate" },
  { "if-match": '"17"' },
  { "if-none-match": "*" },
  { range: "bytes=5-2" },
  { range: "bytes=0-9" },
  { traceparent: "00-00000000000000000000000000000000-0000000000000000-ff" },
  { traceparent: "x".repeat(900) },
  { "inference-header-content-length": "99999999999" },
  { "inference-header-content-length": "7" },
  { "idempotency-key": "the same" },
  { "x-forwarded-for": "::1" },
  { upgrade: "websocket", connection: "Upgrade", "sec-websocket-version": "13", "sec-websocket-key": "AAAA" },
];

/** Requests for an operation: most as the document wants them, or nearly so, and some that are not meant to pass. */
export function requestsFor(operation: Operation, parts: RequestParts): fc.Arbitrary<FuzzRequest> {
  const { secrets, known } = parts;
  const secret = operation.security.some((each) => "runner" in each) ? secrets.runner : secrets.admin;
  return fc
    .record({
      method: mostly(operation.method, fc.constantFrom(...METHODS), 60),
      path: pathsOf(operation, parts),
      query: mostlyOf(queriesOf(operation, parts), fc.constantFrom(...ODD_QUERIES), 30),
      headers: headersOf(operation, parts),
      odd: mostly({}, fc.constantFrom(...ODD_HEADERS), 8),
      secret: mostly(secret, fc.constantFrom("", secrets.reader, "mk_nonsense", "x".repeat(3_000)), 25),
      body: bodiesOf(operation, parts),
      isTruncated: mostly(false, fc.constant(true), 150),
    })
    .map(({ method, path, query, headers, odd, secret: shown, body, isTruncated }) => ({
      operationId: operation.operationId,
      // A HEAD is answered as the GET without its body.
      isAtOperation: path.isSound && (method === "HEAD" ? "GET" : method) === operation.method,
      method,
      path: path.text + query,
      headers: { ...headers, ...body?.headers, ...odd, ...(shown !== "" && { authorization: `Bearer ${shown}` }) },
      body: body?.bytes ?? null,
      isTruncated: isTruncated && body !== null && body.bytes.length > 0,
    }))
    .filter((request) => !takesGroundAway(request, known));
}

/** True if a request would remove what the fuzzer itself needs. */
function takesGroundAway({ method, path }: FuzzRequest, known: KnownValues): boolean {
  return (method === "DELETE" || path.includes("/rotate")) && known.isProtected(path);
}

/** One value, but once in `odds` another. */
function mostly<Value>(value: Value, others: fc.Arbitrary<Value>, odds: number): fc.Arbitrary<Value> {
  return mostlyOf(fc.constant(value), others, odds);
}

function mostlyOf<Value>(values: fc.Arbitrary<Value>, others: fc.Arbitrary<Value>, odds: number): fc.Arbitrary<Value> {
  return fc.oneof({ arbitrary: values, weight: odds - 1 }, { arbitrary: others, weight: 1 });
}

function pathsOf({ path, parameters = [] }: Operation, { schemas }: RequestParts) {
  const values = parameters
    .filter((each) => each.in === "path")
    .map((each) => mostlyOf(schemas.of(each.schema, `${path} ${each.name}`).map(String), hostileValue.map(toText), 20));
  const names = parameters.filter((each) => each.in === "path").map(({ name }) => name);
  return fc.tuple(fc.tuple(...values), mostly(null, fc.constantFrom(...ODD_PATHS), 60)).map(([found, odd]) => {
    // An empty segment, or one that steps out, is another path.
    const isSound = odd === null && found.every((text) => text !== "" && text !== "." && text !== "..");
    const filled = names.reduce((text, name, at) => text.replace(`{${name}}`, escapeText(found[at] ?? "")), path);
    return { text: odd === null ? filled : odd(filled), isSound };
  });
}

function queriesOf({ parameters = [] }: Operation, { schemas }: RequestParts): fc.Arbitrary<string> {
  return fieldsOf(parameters, "query", schemas).map((fields) => {
    const pairs = Object.entries(fields).map(([name, value]) => `${escapeText(name)}=${escapeText(toText(value))}`);
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  });
}

function headersOf({ parameters = [] }: Operation, { schemas }: RequestParts): fc.Arbitrary<Record<string, string>> {
  return fieldsOf(parameters, "header", schemas).map((fields) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const text = toText(value).replaceAll(/[^\t\x20-\xff]/g, "?");
        return /^[\w-]+$/.test(name) ? [[name, text]] : [];
      }),
    ),
  );
}

function fieldsOf(parameters: readonly Parameter[], place: Parameter["in"], schemas: SchemaArbitraries) {
  const meant = parameters.filter((each) => each.in === place);
  const required = meant.filter((each) => each.required === true).map(({ name }) => name);
  const fields = schemas.of({
    type: "object",
    properties: Object.fromEntries(meant.map(({ name, schema }) => [name, schema])),
    required,
  });
  return mostlyOf(fields, spoiled(fields), 6).map((value) => Object(value) as Record<string, unknown>);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Escaped for a path or query; a lone surrogate has no bytes of its own. */
function escapeText(text: string): string {
  return encodeURIComponent(text.slice(0, 6_000).toWellFormed());
}
