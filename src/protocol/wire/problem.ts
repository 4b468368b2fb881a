import { z } from "zod";
import { parseJson } from "./parse-json.ts";

type Fault = "client" | "server" | "runner";

interface ProblemKind {
  readonly status:
    | 400
    | 401
    | 403
    | 404
    | 405
    | 409
    | 412
    | 413
    | 415
    | 416
    | 422
    | 428
    | 429
    | 500
    | 502
    | 503
    | 504
    | 507;
  readonly title: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly fault: Fault;
  /**
   * Exit code of the command line: 2 the request is wrong, 4 the key, 5 not found, 6 a conflict, 7 not now, 8 the
   * budget, 9 the work failed, 10 an invalid answer, 11 cancelled. 0, 1 and 3 are its verdicts.
   */
  readonly exitCode: 2 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11;
}

/**
 * Every way to fail, once. Serves RFC 9457 bodies, socket errors, job failures and exit codes of
 * the command line.
 */
export const PROBLEMS = {
  "invalid-request": { status: 400, title: "The request is not valid", retryable: false, fault: "client", exitCode: 2 },
  unauthorized: { status: 401, title: "A valid key is needed", retryable: false, fault: "client", exitCode: 4 },
  "token-expired": {
    status: 401,
    title: "The registration token has expired",
    retryable: false,
    fault: "client",
    exitCode: 4,
  },
  "token-used": {
    status: 409,
    title: "The registration token was used already",
    retryable: false,
    fault: "client",
    exitCode: 4,
  },
  "ticket-expired": { status: 401, title: "The ticket has ended", retryable: false, fault: "client", exitCode: 4 },
  forbidden: { status: 403, title: "The key lacks the scope for this", retryable: false, fault: "client", exitCode: 4 },
  "not-found": { status: 404, title: "Nothing is there", retryable: false, fault: "client", exitCode: 5 },
  "method-not-allowed": {
    status: 405,
    title: "The route does not take this method",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  conflict: {
    status: 409,
    title: "The request conflicts with what is stored",
    retryable: false,
    fault: "client",
    exitCode: 6,
  },
  "quota-exceeded": {
    status: 409,
    title: "The project has as much as it may",
    retryable: false,
    fault: "client",
    exitCode: 6,
  },
  cancelled: { status: 409, title: "It was cancelled", retryable: false, fault: "client", exitCode: 11 },
  "precondition-failed": {
    status: 412,
    title: "The resource has changed since it was read",
    retryable: false,
    fault: "client",
    exitCode: 6,
  },
  "precondition-required": {
    status: 428,
    title: "An update needs If-Match",
    retryable: false,
    fault: "client",
    exitCode: 6,
  },
  "payload-too-large": {
    status: 413,
    title: "The body is larger than the limit",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  "unsupported-media-type": {
    status: 415,
    title: "The content type is not understood",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  "range-not-satisfiable": {
    status: 416,
    title: "The range begins behind the end of the file",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  "unknown-kernel": {
    status: 422,
    title: "No runner announces this kernel",
    retryable: false,
    fault: "client",
    exitCode: 5,
  },
  "invalid-model": { status: 422, title: "The model cannot be used", retryable: false, fault: "client", exitCode: 2 },
  "idempotency-key-reused": {
    status: 422,
    title: "The idempotency key was used for another request",
    retryable: false,
    fault: "client",
    exitCode: 6,
  },
  "budget-unattainable": {
    status: 422,
    title: "No placement meets the budget",
    retryable: false,
    fault: "client",
    exitCode: 8,
  },
  "no-listener": {
    status: 422,
    title: "No runner of this model takes direct requests",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  "queue-full": {
    status: 429,
    title: "The queue holds as many jobs as it may",
    retryable: true,
    fault: "client",
    exitCode: 7,
  },
  "rate-limited": {
    status: 429,
    title: "More requests came than may",
    retryable: true,
    fault: "client",
    exitCode: 7,
  },
  overloaded: {
    status: 503,
    title: "The runner has no room for this request now",
    retryable: true,
    fault: "server",
    exitCode: 7,
  },
  "no-placement": {
    status: 503,
    title: "No runner serves this model now",
    retryable: true,
    fault: "server",
    exitCode: 7,
  },
  "runner-offline": {
    status: 503,
    title: "The runner is not connected",
    retryable: true,
    fault: "runner",
    exitCode: 7,
  },
  "runner-lost": {
    status: 502,
    title: "The runner vanished while it worked",
    retryable: true,
    fault: "runner",
    exitCode: 9,
  },
  "lease-expired": {
    status: 502,
    title: "The runner did not report in time",
    retryable: true,
    fault: "runner",
    exitCode: 9,
  },
  "device-lost": {
    status: 502,
    title: "The device or its process was lost",
    retryable: true,
    fault: "runner",
    exitCode: 9,
  },
  "out-of-memory": {
    status: 507,
    title: "The device has not the memory for this",
    retryable: false,
    fault: "runner",
    exitCode: 9,
  },
  "storage-full": {
    status: 507,
    title: "The database takes nothing more",
    retryable: true,
    fault: "server",
    exitCode: 7,
  },
  "backend-failed": {
    status: 502,
    title: "The backend could not execute this",
    retryable: false,
    fault: "runner",
    exitCode: 9,
  },
  "kernel-invalid": {
    status: 422,
    title: "The kernel does not compile or does not fit the device",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  "kernel-incorrect": {
    status: 422,
    title: "The outputs differ from the reference",
    retryable: false,
    fault: "runner",
    exitCode: 9,
  },
  "kernel-timeout": {
    status: 504,
    title: "The kernel ran longer than it may",
    retryable: false,
    fault: "runner",
    exitCode: 9,
  },
  "model-quarantined": {
    status: 503,
    title: "The model ended the device's process too often",
    retryable: true,
    fault: "runner",
    exitCode: 7,
  },
  "kernel-quarantined": {
    status: 503,
    title: "The kernel failed too often on this device",
    retryable: true,
    fault: "runner",
    exitCode: 7,
  },
  "budget-exceeded": {
    status: 504,
    title: "The budget ran out before the answer came",
    retryable: true,
    fault: "server",
    exitCode: 8,
  },
  "upgrade-required": {
    status: 400,
    title: "The two ends speak different protocol versions",
    retryable: false,
    fault: "client",
    exitCode: 2,
  },
  internal: { status: 500, title: "Something went wrong on our side", retryable: true, fault: "server", exitCode: 10 },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

const problemCodes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

/**
 * One thing that is wrong with the input. `pointer` is a JSON pointer into the body (`#/budgetMs`),
 * or `query/limit`, `path/id`, `header/authorization` for what stands outside of it.
 */
export const FieldError = z.object({ pointer: z.string(), message: z.string() }).meta({ id: "FieldError" });
export type FieldError = z.infer<typeof FieldError>;

/** A name as one part of a JSON pointer (RFC 6901, section 4). */
export function toPointerPart(name: PropertyKey): string {
  return String(name).replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * An RFC 9457 problem. The fields of `fits` say which budget would have been met, those of `quota` how much of what the
 * project has and may have.
 */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.enum(problemCodes),
    detail: z.string(),
    instance: z.string().optional(),
    errors: z.array(FieldError).optional(),
    retryAfterMs: z.number().optional(),
    fits: z
      .object({ budgetMs: z.number(), placementId: z.string(), variant: z.string(), confidence: z.number() })
      .optional(),
    quota: z.object({ name: z.string(), used: z.number(), limit: z.number() }).optional(),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof Problem>;

type ProblemExtras = Pick<Problem, "errors" | "retryAfterMs" | "fits" | "quota">;

/** Builds the problem body for a code. */
export function createProblem(code: ProblemCode, detail: string, extras: ProblemExtras = {}): Problem {
  const kind = PROBLEMS[code];
  // The extras may be a whole problem that a runner sent: its status must not become ours.
  return { ...extras, type: `/docs/problems#${code}`, title: kind.title, status: kind.status, code, detail };
}

/** The one error class: thrown where a problem ends the work, never for an expected outcome. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;
  /** Further headers of the reply, in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    extras: ProblemExtras = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.problem = createProblem(code, detail, extras);
    this.headers = headers;
  }
}

/**
 * The header of a refusal for want of a right. It names the error only where the caller's `Authorization` has a bearer
 * token that can be wrong.
 * Source: RFC 6750, section 3.
 */
export function challenge(
  authorization: string | undefined,
  error: "invalid_token" | "insufficient_scope" = "invalid_token",
): Record<string, string> {
  const named = /^Bearer\b/i.test(authorization ?? "") ? `, error="${error}"` : "";
  return { "www-authenticate": `Bearer realm="millrace"${named}` };
}

/** Headers that a reply with this error has beside those of its body. */
export function headersOf(error: unknown): Record<string, string> {
  const { retryAfterMs } = toProblem(error);
  return {
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) }),
    ...(error instanceof ProblemError && error.headers),
  };
}

/** The problem that the text of a reply is; null where it is another text. */
export function parseProblem(text: string): ProblemError | null {
  const problem = Problem.safeParse(parseJson(text));
  return problem.success ? reviveProblem(problem.data) : null;
}

/** A problem of another process or machine, to be thrown here. */
export function reviveProblem(problem: Problem): ProblemError {
  const error = new ProblemError(problem.code, problem.detail);
  Object.assign(error.problem, problem);
  return error;
}

/** The problem inside an error; an unknown error becomes `internal` and leaks nothing. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return createProblem("internal", "The request could not be completed.");
}
