import type { Context } from "hono";
import { hasTag, tagOf } from "./answer-once.ts";
import type { AppEnv } from "./bind.ts";

/** Opened by itself, a plot may use its own stylesheet and nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/** An SVG document, unless the caller has it already. */
export async function answerSvg(c: Context<AppEnv>, svg: string): Promise<Response> {
  const etag = await tagOf(svg);
  const headers = { etag, "cache-control": "no-cache, private", "content-security-policy": POLICY };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(svg, { headers: { ...headers, "content-type": "image/svg+xml; charset=utf-8" } });
}
