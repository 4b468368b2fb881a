import type { Operation } from "./fuzz/http/operation.ts";

/** What the document says against a reply of an operation; null where it declares its status and its media type. */
export function findUndeclared(
  { operationId, responses }: Pick<Operation, "operationId" | "responses">,
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
