import type { Endpoint } from "../../protocol/endpoint.ts";
import { type OipError, oipStatus } from "../../protocol/inference/oip.ts";
import { PROBLEMS, type Problem, type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { isStorageFull } from "../store/database.ts";

/** Whether a path is of the Open Inference Protocol, whose errors have their own shape. */
export function isOip(path: string): boolean {
  return path === "/v2" || path.startsWith("/v2/");
}

/**
 * Every problem that an endpoint may answer with: those of its own, and those of the way to its handler. The OpenAPI
 * document declares their statuses.
 */
export function problemsOf({
  method,
  path,
  access,
  params,
  body,
  rawBody,
  reply,
  problems = [],
}: Endpoint): ProblemCode[] {
  const takesBody = body !== undefined || rawBody !== undefined;
  // Every request may wait in vain for the thread (`ThreadShares`).
  const codes = new Set<ProblemCode>(["overloaded"]);
  // Unknown parameters of the query are refused, but not under `/v2`.
  if (!isOip(path) || params !== undefined || takesBody) codes.add("invalid-request");
  if (takesBody) codes.add("payload-too-large").add("unsupported-media-type");
  // Keys have a rate, and addresses one of unknown secrets.
  if (access !== "public") codes.add("unauthorized").add("rate-limited");
  if (access !== "public" && access !== "runner") codes.add("forbidden");
  if (method !== "get") codes.add("storage-full");
  if (reply.cached === "ranges") codes.add("range-not-satisfiable");
  return [...codes.union(new Set(problems)), "internal"];
}

/** The problem of a full database in place of the statement that failed by it; every other error as it is. */
export function nameStorageFull(error: unknown): unknown {
  if (!isStorageFull(error)) return error;
  const detail = "The edge's database is full: this could not be kept. What is stored is still served.";
  return new ProblemError("storage-full", detail, { retryAfterMs: 60_000 });
}

/** Status of a problem at a path. */
export function statusOf(code: ProblemCode, path: string): number {
  const { status } = PROBLEMS[code];
  return isOip(path) ? oipStatus({ code, status }) : status;
}

/** A problem as a reply: under `/v2` in the shape of the Open Inference Protocol, elsewhere in that of RFC 9457. */
export function refuse(problem: Problem, path: string, headers: Readonly<Record<string, string>>): Response {
  const status = statusOf(problem.code, path);
  if (isOip(path)) return Response.json({ error: problem.detail } satisfies OipError, { status, headers });
  return new Response(JSON.stringify({ ...problem, instance: path }), {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
