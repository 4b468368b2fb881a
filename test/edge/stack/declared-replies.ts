import { openApiDocument } from "../../../src/edge/http/openapi.ts";

interface DescribedOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** What the document says against a reply of an operation; null where it declares its status and its media type. */
export function findUndeclared(
  { operationId, responses }: DescribedOperation,
  status: number,
  contentType: string | null,
): string | null {
  const response = responses[status];
  if (response === undefined) return `${operationId} answered the undeclared status ${status}`;
  const mediaType = contentType?.split(";")[0]?.trim() ?? "";
  const declared = Object.keys(response.content ?? {});
  if (declared.includes(mediaType) || (mediaType === "" && declared.length === 0)) return null;
  return `${operationId} answered ${status} as "${mediaType}", which is not declared: ${declared.join(", ")}`;
}

const { paths } = openApiDocument() as { paths: Record<string, Record<string, DescribedOperation>> };

/** Operations by path; those with the fewest parameters come first, as in the edge. */
const places = Object.entries(paths)
  .map(([path, methods]) => ({
    methods,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    parameters: path.split("{").length,
  }))
  .toSorted((a, b) => a.parameters - b.parameters);

/**
 * Holds a reply that a test received against the OpenAPI document. Throws for a status or media type that is not
 * declared, and for a 401 that does not say how to authenticate (RFC 9110, section 15.5.2).
 */
export function checkDeclared(method: string, url: string, { status, headers }: Response): void {
  const { pathname } = new URL(url);
  const operation = places.find(({ pattern }) => pattern.test(pathname))?.methods[method.toLowerCase()];
  if (operation === undefined) return;
  const fault = findUndeclared(operation, status, headers.get("content-type"));
  if (fault !== null) throw new Error(fault);
  if (status === 401 && !headers.has("www-authenticate"))
    throw new Error(`${operation.operationId}: a 401 without how`);
}
