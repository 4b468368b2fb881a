import type { Problem } from "../../protocol/problem.ts";

/** Statuses that mean under `/v2` what they mean elsewhere. */
const KEPT = new Set([401, 403, 405, 413, 500]);

/**
 * A problem in the protocol's own shape, `{"error": text}`: bad input and unknown models are 400; what
 * may succeed later or ran out of its time is 503.
 */
export function oipErrorResponse({ code, status, detail, retryAfterMs }: Problem, headers: HeadersInit = {}): Response {
  const isBusy = status === 429 || status > 500 || code === "budget-unattainable";
  const response = Response.json(
    { error: detail },
    { status: KEPT.has(status) ? status : isBusy ? 503 : 400, headers },
  );
  if (retryAfterMs !== undefined) response.headers.set("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  return response;
}
