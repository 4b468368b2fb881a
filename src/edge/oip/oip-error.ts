import type { OipError } from "../../protocol/oip.ts";
import type { Problem } from "../../protocol/problem.ts";

/** Statuses that mean under `/v2` what they mean elsewhere. */
const KEPT = new Set([401, 403, 405, 413, 500]);

/** Bad input and unknown models are 400; what may succeed later or ran out of its time is 503. */
export function oipStatus({ code, status }: Pick<Problem, "code" | "status">): number {
  const isBusy = status === 429 || status > 500 || code === "budget-unattainable";
  if (KEPT.has(status)) return status;
  return isBusy ? 503 : 400;
}

/** A problem in the protocol's own shape, `{"error": text}`. */
export function oipErrorResponse(problem: Problem, headers: HeadersInit = {}): Response {
  const { detail, retryAfterMs } = problem;
  const response = Response.json({ error: detail } satisfies OipError, { status: oipStatus(problem), headers });
  if (retryAfterMs !== undefined) response.headers.set("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  return response;
}
