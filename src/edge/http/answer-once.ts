import type { Context } from "hono";
import { VERSION } from "../../protocol/version.ts";
import type { AppEnv } from "./bind.ts";

/** An answer, and what it cost the database. */
export interface Answer {
  readonly body: unknown;
  /** Rows, as the database counts and bills them. */
  readonly rowsRead: number;
}

/**
 * Answers a question about the history, unless the caller has the answer already: its `ETag` follows from the
 * question and `state`, which must change with everything that would change the answer. Then nothing is computed.
 */
export async function answerOnce(
  c: Context<AppEnv>,
  state: unknown,
  compute: () => Promise<Answer>,
): Promise<Response> {
  const { pathname, search } = new URL(c.req.url);
  const etag = await tagOf([VERSION, pathname, search, state]);
  const headers = { etag, "cache-control": "no-cache, private" };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const { body, rowsRead } = await compute();
  return Response.json(body, { headers: { ...headers, "server-timing": `rows;desc="${rowsRead}"` } });
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
