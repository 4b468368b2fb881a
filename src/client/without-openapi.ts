interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

interface Call extends Node {
  readonly callee: Node & { readonly object: Node; readonly property: Node & { readonly name?: string } };
}

/** A module without its calls of `.openapi(…)`, each of which gives the schema that it is called on; by its ESTree. */
export function withoutOpenApi(code: string, program: object): string {
  const cuts = [...findCalls(program)].map(({ callee, end }) => ({ start: callee.object.end, end }));
  return cuts
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), code);
}

/** The calls in a part of the tree; what is in their arguments goes with them. */
function* findCalls(part: unknown): Generator<Call> {
  if (typeof part !== "object" || part === null) return;
  if (!isCall(part)) for (const child of Object.values(part)) yield* findCalls(child);
  else {
    yield part;
    yield* findCalls(part.callee.object);
  }
}

function isCall(part: object): part is Call {
  const { type, callee } = part as Partial<Call>;
  return type === "CallExpression" && callee?.type === "MemberExpression" && callee.property.name === "openapi";
}
