import { ProblemError } from "../../protocol/wire/problem.ts";

/** A resource that counts its versions, so that its tag follows from them. */
interface Versioned {
  readonly version: number;
}

export function eTagOf({ version }: Versioned): string {
  return `"${version}"`;
}

/** A resource as JSON, with its tag. */
export function withETag(resource: Versioned, status: 200 | 201 = 200): Response {
  return Response.json(resource, { status, headers: { etag: eTagOf(resource) } });
}

/** Whether an `If-Match` names the present version (RFC 9110, section 13.1.1). */
export function isMatch(wanted: string, found: Versioned): boolean {
  return wanted === "*" || wanted === eTagOf(found);
}

/** Problem of an update without an `If-Match`. */
export function missingMatch(what: string, detail = `An update of a ${what} needs If-Match.`): ProblemError {
  const errors = [{ pointer: "header/if-match", message: `is missing: send the ${what}'s ETag` }];
  return new ProblemError("precondition-required", detail, { errors });
}

/** Problem of an update of another version than the present one. */
export function staleMatch(what: string, message: string): ProblemError {
  const errors = [{ pointer: "header/if-match", message }];
  return new ProblemError("precondition-failed", `The ${what} was changed by somebody else.`, { errors });
}
