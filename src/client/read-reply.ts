import type { z } from "@hono/zod-openapi";
import type { Endpoint } from "../protocol/endpoint.ts";
import { Problem, ProblemError } from "../protocol/problem.ts";

/**
 * The error in a reply that is not a success: the server's own problem, or `internal` where
 * something before the service answered with a 5xx.
 */
export async function readProblem(endpoint: Endpoint, response: Response): Promise<Error> {
  const text = await response.text();
  const problem = Problem.safeParse(parseJson(text));
  if (problem.success) {
    const error = new ProblemError(problem.data.code, problem.data.detail);
    Object.assign(error.problem, problem.data);
    return error;
  }
  const sentence = `${nameOf(endpoint)} answered ${response.status} without a problem: ${excerpt(text)}`;
  return response.status >= 500 ? new ProblemError("internal", sentence) : new Error(sentence);
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

/** The value of a JSON text; undefined, which no schema takes, where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A request as errors name it. */
export function nameOf(endpoint: Endpoint): string {
  return `${endpoint.method.toUpperCase()} ${endpoint.path}`;
}

function excerpt(text: string): string {
  return text === "" ? "an empty body" : JSON.stringify(text.slice(0, 120));
}
