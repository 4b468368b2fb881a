import type { Problem } from "../../protocol/problem.ts";

/** A problem as an RFC 9457 response; `instance` is the path that was asked for. */
export function problemResponse(problem: Problem, instance: string, headers: Record<string, string> = {}): Response {
  const retryAfter: Record<string, string> =
    problem.retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(problem.retryAfterMs / 1_000)) };
  return new Response(JSON.stringify({ ...problem, instance }), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...retryAfter, ...headers },
  });
}
