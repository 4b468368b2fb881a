import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { TABLE_MEDIA_TYPES, type TableFormat } from "../../protocol/table-format.ts";
import { VERSION } from "../../protocol/version.ts";
import type { AppEnv } from "./bind.ts";
import { type Table, writeTable } from "./write-table.ts";

/** An answer, and what it cost the database. */
export interface Answer<Body> {
  readonly body: Body;
  /** Rows, as the database counts and bills them; absent where they are few. */
  readonly rowsRead?: number;
}

/** A way to flat rows; an answer without one is JSON whatever is asked for. */
export type ToTable<Body> = (body: Body) => Table;

/**
 * Answers a question about the history, unless the caller has the answer already: its `ETag` follows from the
 * question, the form and `state`, which must change with everything that would change the answer. Then nothing is
 * computed.
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
  if (toTable === undefined || format === "json") return Response.json(body, { headers: timed });
  return new Response(writeTable(toTable(body), format), {
    headers: { ...timed, ...moreOf(c, body), "content-type": TABLE_MEDIA_TYPES[format] },
  });
}

/** What flat rows have no place for: where the next page is, and that something was left out. */
function moreOf(c: Context<AppEnv>, body: { nextCursor?: string | null; truncated?: boolean }): Record<string, string> {
  const next = new URL(c.req.url);
  if (typeof body.nextCursor === "string") next.searchParams.set("cursor", body.nextCursor);
  return {
    ...(typeof body.nextCursor === "string" ? { link: `<${next.pathname}${next.search}>; rel="next"` } : {}),
    ...(body.truncated === true ? { "millrace-truncated": "true" } : {}),
  };
}

/** The form that is asked for: by the query, which is checked by now, or by `Accept`. */
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
export async function tagOf(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return `W/"${btoa(String.fromCharCode(...new Uint8Array(digest, 0, 15)))}"`;
}

/** Whether `If-None-Match` names a tag, compared weakly (RFC 9110, section 13.1.2). */
export function hasTag(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return header?.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag)) ?? false;
}
