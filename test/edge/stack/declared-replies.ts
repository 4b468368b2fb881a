import { openApiDocument } from "../../../src/edge/http/openapi.ts";
import { findUndeclared } from "../../declared-reply.ts";
import { listOperations, type OpenApiDocument, type Operation } from "../../fuzz/http/operation.ts";

/** Operations with what matches their paths, those with the fewest parameters first. */
const operations = listOperations(openApiDocument() as OpenApiDocument)
  .map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    parameters: operation.path.split("{").length,
  }))
  .toSorted((a, b) => a.parameters - b.parameters);

function findOperation(method: string, path: string): Pick<Operation, "operationId" | "responses"> | undefined {
  return operations.find((operation) => operation.method === method && operation.pattern.test(path));
}

/**
 * Holds a reply that a test received against the OpenAPI document. Throws for a status or media type that is not
 * declared, and for a 401 that does not say how to authenticate (RFC 9110, section 15.5.2).
 */
export function checkDeclared(method: string, url: string, { status, headers }: Response): void {
  const operation = findOperation(method, new URL(url).pathname);
  if (operation === undefined) return;
  const fault = findUndeclared(operation, status, headers.get("content-type"));
  if (fault !== null) throw new Error(fault);
  if (status === 401 && !headers.has("www-authenticate")) throw new Error(`${operation.operationId}: a 401 without how`);
}
