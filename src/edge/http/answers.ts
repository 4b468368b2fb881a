import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { TABLE_MEDIA_TYPES, type TableFormat } from "../../protocol/wire/table-format.ts";
import { getArtifactRange } from "../store/artifact-store.ts";
import type { AppEnv } from "./bind.ts";
import { writeJson } from "./write-json.ts";
import { type Table, writeTable } from "./write-table.ts";

/** An answer, and its cost in the database. */
export interface Answer<Body> {
  readonly body: Body;
  /** Rows read, as the database counts and bills them; absent where they are few. */
  readonly rowsRead?: number;
}

/** Converts an answer to flat rows; an answer without a converter is always JSON. */
export type ToTable<Body> = (body: Body) => Table;

/**
 * Answers a query of the history, or 304 where the caller has the answer already.
 * The `ETag` follows from the query, the format and `state`, which must change whenever the answer would.
 */
export async function answerOnce<Body extends object>(
  c: Context<AppEnv>,
  state: unknown,
  compute: () => Promise<Answer<Body>>,
  toTable?: ToTable<Body>,
): Promise<Response> {
  const { pathname, search } = new URL(c.req.url);
  const format = toTable === undefined ? "json" : formatOf(c);
  const etag = await tagOf([VERSION, pathname, search, format, state]);
  const headers = { etag, "cache-control": "no-cache, private", vary: "Accept" };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const { body, rowsRead } = await compute();
  const timed = rowsRead === undefined ? headers : { ...headers, "server-timing": `rows;desc="${rowsRead}"` };
  if (toTable === undefined || format === "json") {
    return new Response(await writeJson(body), { headers: { ...timed, "content-type": TABLE_MEDIA_TYPES.json } });
  }
  return new Response(writeTable(toTable(body), format), {
    headers: { ...timed, ...moreOf(c, body), "content-type": TABLE_MEDIA_TYPES[format] },
  });
}

/** Headers for facts that flat rows cannot hold: the next page's address, and a truncation. */
function moreOf(c: Context<AppEnv>, body: { nextCursor?: string | null; truncated?: boolean }): Record<string, string> {
  const next = new URL(c.req.url);
  if (typeof body.nextCursor === "string") next.searchParams.set("cursor", body.nextCursor);
  return {
    ...(typeof body.nextCursor === "string" ? { link: `<${next.pathname}${next.search}>; rel="next"` } : {}),
    ...(body.truncated === true ? { "millrace-truncated": "true" } : {}),
  };
}

/** Requested format: of the query, which has been checked, or of `Accept`. */
function formatOf(c: Context<AppEnv>): TableFormat {
  const named = c.req.query("format");
  const formats = Object.keys(TABLE_MEDIA_TYPES) as TableFormat[];
  const accepted = accepts(c, {
    header: "Accept",
    supports: Object.values(TABLE_MEDIA_TYPES),
    default: TABLE_MEDIA_TYPES.json,
  });
  return (
    formats.find((format) => (named === undefined ? TABLE_MEDIA_TYPES[format] === accepted : format === named)) ??
    "json"
  );
}

/** Weak: the same answer need not be the same bytes. */
async function tagOf(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return `W/"${btoa(String.fromCharCode(...new Uint8Array(digest, 0, 15)))}"`;
}

/** Whether `If-None-Match` names a tag, compared weakly (RFC 9110, section 13.1.2). */
function hasTag(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return header?.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag)) ?? false;
}

/** A stored file and its description. */
interface StoredFile {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
}

/**
 * Streams a file: one range of it for a `Range` (RFC 9110, section 14), 304 for a caller that has it. Throws
 * `not-found` where its bytes are gone, and `range-not-satisfiable`.
 */
export async function answerArtifact(c: Context<AppEnv>, file: StoredFile): Promise<Response> {
  const { digest, sizeBytes, mediaType } = file;
  const etag = `"${digest}"`;
  const shared = { etag, "cache-control": "no-cache, private", "accept-ranges": "bytes" };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers: shared });
  const part = readRange(c.req.header("range"), c.req.header("if-range"), sizeBytes, etag);
  if (part === "unsatisfiable") {
    const message = `must begin before the file's end, after ${sizeBytes} bytes`;
    const errors = [{ pointer: "header/range", message }];
    const headers = { ...shared, "content-range": `bytes */${sizeBytes}` };
    throw new ProblemError("range-not-satisfiable", `The range ${message}.`, { errors }, headers);
  }
  const object = await getArtifactRange(c.env.ARTIFACTS, digest, part ?? { offset: 0, length: sizeBytes });
  if (object === null) throw new ProblemError("not-found", `The file ${digest} is not kept any more.`);
  const headers = { ...shared, "content-type": mediaType };
  if (part === null) return new Response(object.body, { headers: { ...headers, "content-length": `${sizeBytes}` } });
  const { offset, length } = part;
  const range = `bytes ${offset}-${offset + length - 1}/${sizeBytes}`;
  return new Response(object.body, {
    status: 206,
    headers: { ...headers, "content-range": range, "content-length": `${length}` },
  });
}

/** Requested range; null for the whole file, which also answers several ranges or a range of another version. */
function readRange(
  range: string | undefined,
  ifRange: string | undefined,
  sizeBytes: number,
  etag: string,
): { readonly offset: number; readonly length: number } | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (ifRange !== undefined && ifRange !== etag) return null;
  const offset = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  return offset < end ? { offset, length: end - offset } : "unsatisfiable";
}

/** A plot that is opened by itself may use its own stylesheet and nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/** An SVG document, or 304 where the caller has it already. */
export async function answerSvg(c: Context<AppEnv>, svg: string): Promise<Response> {
  const etag = await tagOf(svg);
  const headers = { etag, "cache-control": "no-cache, private", "content-security-policy": POLICY };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(svg, { headers: { ...headers, "content-type": "image/svg+xml; charset=utf-8" } });
}

/** A text without content, where clients expect no 204. */
export function answerNothing(): Response {
  return new Response("", { headers: { "content-type": "text/plain" } });
}

/** A response of another Worker or object with headers that middleware may add to. */
export function mutable(response: Response): Response {
  return new Response(response.body, response);
}
