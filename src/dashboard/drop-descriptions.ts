import type { Plugin } from "vite";

/** What is looked at of a syntax tree (ESTree). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly arguments?: readonly Node[];
  readonly properties?: readonly Node[];
  readonly key?: Node;
  readonly name?: string;
}

interface Cut {
  readonly start: number;
  readonly end: number;
  readonly instead: string;
}

/** Fields of an endpoint that only its documentation needs. */
const TOLD = new Set(["summary", "description", "tag"]);

/**
 * Leaves out of the pages' code what the protocol says for the OpenAPI document alone: calls of `.openapi(…)`, and the
 * words about endpoints. A page would load them and never show them.
 */
export function dropDescriptions(): Plugin {
  return {
    name: "drop-descriptions",
    apply: "build",
    enforce: "post",
    transform: {
      filter: { id: /\/src\/protocol\/.*\.ts$/ },
      handler(code) {
        return { code: withoutDescriptions(code, this.parse(code)), map: null };
      },
    },
  };
}

/** Code without what it says for documentation alone; `tree` is its syntax tree. */
export function withoutDescriptions(code: string, tree: unknown): string {
  const fromTheEnd = findCuts(tree).toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((text, { start, end, instead }) => text.slice(0, start) + instead + text.slice(end), code);
}

/** Cuts in a part of the tree, none within another. */
function findCuts(part: unknown): Cut[] {
  if (Array.isArray(part)) return part.flatMap(findCuts);
  if (typeof part !== "object" || part === null) return [];
  const { type, callee, end } = part as Node;
  if (type === "CallExpression" && callee?.object !== undefined && callee.property?.name === "openapi")
    return [{ start: callee.object.end, end, instead: "" }, ...findCuts(callee.object)];
  if (type === "CallExpression" && callee?.name === "defineEndpoint") return cutsOfEndpoint(part as Node);
  return Object.values(part).flatMap(findCuts);
}

function cutsOfEndpoint({ arguments: [fields] = [] }: Node): Cut[] {
  return (fields?.properties ?? []).flatMap((field) => {
    const name = field.key?.name ?? "";
    return TOLD.has(name) ? [{ start: field.start, end: field.end, instead: `${name}: ""` }] : findCuts(field);
  });
}
