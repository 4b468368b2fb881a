import { type OipError, oipStatus } from "../../protocol/inference/oip.ts";
import type { Problem } from "../../protocol/wire/problem.ts";

/** A problem as an RFC 9457 response; `instance` is the requested path. */
export function problemResponse(problem: Problem, instance: string, headers: Record<string, string> = {}): Response {
  const retryAfter: Record<string, string> =
    problem.retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(problem.retryAfterMs / 1_000)) };
  return new Response(JSON.stringify({ ...problem, instance }), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...retryAfter, ...headers },
  });
}

/** A problem in the protocol's own shape, `{"error": text}`. */
export function oipErrorResponse(problem: Problem, headers: HeadersInit = {}): Response {
  const { detail, retryAfterMs } = problem;
  const response = Response.json({ error: detail } satisfies OipError, { status: oipStatus(problem), headers });
  if (retryAfterMs !== undefined) response.headers.set("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  return response;
}
