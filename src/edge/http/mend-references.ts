/**
 * Says of a schema that is named elsewhere what stands beside its name. The generator writes both into an `allOf`, which
 * nothing that may be null can fulfil, and in which generated clients see no type.
 */
export function mendReferences(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(mendReferences);
  if (typeof part !== "object" || part === null) return part;
  const mended = Object.fromEntries(Object.entries(part).map(([name, child]) => [name, mendReferences(child)]));
  return isBeside(mended) ? joinReference(mended) : mended;
}

interface Beside {
  readonly allOf: readonly [{ readonly $ref: string }, { readonly type?: unknown; readonly properties?: unknown }];
}

/** A reference and words about it; what adds properties is another schema. */
function isBeside(part: Record<string, unknown>): part is Record<string, unknown> & Beside {
  const { allOf } = part as Partial<Beside>;
  return Array.isArray(allOf) && allOf.length === 2 && "$ref" in allOf[0] && allOf[1].properties === undefined;
}

function joinReference({ allOf: [reference, { type, ...words }], ...rest }: Beside): object {
  const isNullable = Array.isArray(type) && type.includes("null");
  return { ...rest, ...words, ...(isNullable ? { anyOf: [reference, { type: "null" }] } : reference) };
}
