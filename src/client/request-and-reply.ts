import type { z } from "zod";
import type { Endpoint } from "../protocol/endpoint.ts";
import { parseJson } from "../protocol/wire/parse-json.ts";
import { parseProblem, ProblemError } from "../protocol/wire/problem.ts";
import { VERSION } from "../protocol/wire/release.ts";
import type { RequestParts } from "./call-options.ts";

/** Address and credentials of requests. */
export interface RequestTarget {
  readonly baseUrl: string;
  readonly key?: string | undefined;
}

/** The URL and fetch options of one request; throws where a parameter of the path is missing. */
export function buildRequest(
  target: RequestTarget,
  endpoint: Endpoint,
  parts: RequestParts,
): { readonly url: string; readonly init: RequestInit } {
  const headers = new Headers(present(parts.headers));
  if (target.key !== undefined) headers.set("authorization", `Bearer ${target.key}`);
  if (!headers.has("accept")) headers.set("accept", acceptedBy(endpoint));
  const init: RequestInit = { method: endpoint.method.toUpperCase(), headers, signal: parts.signal ?? null };
  if (parts.rawBody !== undefined) {
    headers.set("content-type", parts.rawBody.mediaType);
    init.body = parts.rawBody.content;
  } else if (parts.body !== undefined) {
    headers.set("content-type", "application/json");
    init.body = JSON.stringify(parts.body);
  }
  const url = target.baseUrl.replace(/\/+$/, "") + fillPath(endpoint, parts.params) + encodeQuery(parts.query);
  return { url, init };
}

function acceptedBy({ reply }: Endpoint): string {
  return "mediaType" in reply ? reply.mediaType : "application/json";
}

function fillPath(endpoint: Endpoint, params: unknown): string {
  const values = new Map(present(params));
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name) ?? "";
    if (value === "") throw new TypeError(`${endpoint.method} ${endpoint.path} wants params.${name}`);
    // A part of a path may hold a colon (RFC 3986, section 3.3), and digests do.
    return encodeURIComponent(value).replaceAll("%3A", ":");
  });
}

/** Lists are sent with commas between their items, records as JSON, as the table reads them. */
function encodeQuery(query: unknown): string {
  const text = new URLSearchParams(present(query)).toString();
  return text === "" ? "" : `?${text}`;
}

function present(values: unknown): [string, string][] {
  return Object.entries(values ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, isRecord(value) ? JSON.stringify(value) : String(value)]],
  );
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * The error in a reply that is not a success: the server's own problem, or `internal` where
 * something before the service answered with a 5xx, or that there was too much, and when to come again.
 */
export async function readProblem(endpoint: Endpoint, response: Response): Promise<Error> {
  const text = await response.text();
  const problem = parseProblem(text);
  if (problem !== null) return isUnknownRoute(problem) ? createOlderEdge(endpoint) : problem;
  const sentence = `${nameOf(endpoint)} answered ${response.status} without a problem: ${excerpt(text)}`;
  if (response.status < 500 && response.status !== 429) return new Error(sentence);
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
  return new ProblemError("internal", sentence, retryAfterMs === null ? {} : { retryAfterMs });
}

/** The typed client asks only for what its own release has: an edge without it is older. */
function isUnknownRoute({ problem: { code, detail } }: ProblemError): boolean {
  return code === "method-not-allowed" || (code === "not-found" && detail.startsWith("There is no /"));
}

function createOlderEdge(endpoint: Endpoint): ProblemError {
  const detail = `The edge does not know ${nameOf(endpoint)}: it is older than this client, which is release ${VERSION}. Deploy that release there, or use an older client.`;
  return new ProblemError("upgrade-required", detail);
}

/** Seconds, or an instant (RFC 9110, section 10.2.3), as milliseconds from now; null where it is neither. */
function readRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

/** The value of a successful reply, parsed by the endpoint's schema; undefined where it has none. */
export async function readReply<Reply>(
  endpoint: Endpoint<unknown, unknown, unknown, unknown, Reply>,
  response: Response,
): Promise<Reply | undefined> {
  if (!("schema" in endpoint.reply)) return undefined;
  const text = await response.text();
  return parseBy(endpoint.reply.schema, parseJson(text), `${nameOf(endpoint)} answered ${response.status}`);
}

/** Parses what a server sent; what does not fit names the place, since the two ends disagree then. */
export function parseBy<Value>(schema: z.ZodType<Value>, value: unknown, source: string): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join("/") || "the whole"}: ${message}`);
  throw new Error(`${source} with what the protocol does not know (${issues.join("; ")})`);
}

/** A request as errors name it. */
export function nameOf(endpoint: Endpoint): string {
  return `${endpoint.method.toUpperCase()} ${endpoint.path}`;
}

function excerpt(text: string): string {
  return text === "" ? "an empty body" : JSON.stringify(text.slice(0, 120));
}
