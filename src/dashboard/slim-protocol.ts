import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

/** Part of a parsed program. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

interface Call extends SyntaxNode {
  readonly callee: SyntaxNode & { readonly name?: string };
  readonly arguments: readonly (SyntaxNode & { readonly properties?: readonly Property[] })[];
}

interface Property extends SyntaxNode {
  readonly value?: SyntaxNode;
  readonly key: { readonly name?: string };
}

type Cut = readonly [start: number, end: number];

/** How the pages name an endpoint; there is no other way. */
const CALLED = /\bendpoints\.(\w+)/g;

/** What a client needs of an endpoint; all else is for the edge and for readers of the API's description. */
const NEEDED = new Set(["method", "path", "reply"]);

/** Tells the bundler that what comes of a call may be left out where nobody uses it. */
const PURE = "/* @__PURE__ */ ";

/**
 * Leaves out of the pages what they need not know of the protocol: what endpoints say of themselves, what an edge checks
 * requests by, and every schema that nobody uses then.
 */
export function slimProtocol(): Plugin {
  const called = findCalled();
  return {
    name: "slim-protocol",
    enforce: "post",
    transform(code, id) {
      if (!id.includes("/src/protocol/")) return null;
      const cuts: Cut[] = [];
      const program = this.parse(code);
      visitCalls(program, (call) => cuts.push([call.start, call.start], ...cutsOf(call)));
      visitObjects(program, (properties) => cuts.push(...cutUncalled(properties, called)));
      return { code: leaveOut(code, cuts), map: null };
    },
  };
}

/** Names of all endpoints that the pages call, by themselves or by the client. */
function findCalled(): ReadonlySet<string> {
  const folders = [import.meta.dirname, path.join(import.meta.dirname, "../client")];
  const files = folders.flatMap((cwd) => globSync("**/*.{ts,tsx}", { cwd }).map((file) => path.join(cwd, file)));
  const texts = files.map((file) => readFileSync(file, "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(CALLED)].map(([, name = ""]) => name)));
}

/** Endpoints of a table that nobody calls. */
function cutUncalled(properties: readonly Property[], called: ReadonlySet<string>): Cut[] {
  return properties.flatMap(({ key, value, start, end }, place): Cut[] => {
    const isEndpoint = value?.type === "CallExpression" && (value as Call).callee.name === "defineEndpoint";
    return isEndpoint && !called.has(key?.name ?? "") ? [[start, properties[place + 1]?.start ?? end]] : [];
  });
}

function cutsOf({ callee, arguments: given }: Call): Cut[] {
  if (callee.name !== "defineEndpoint") return [];
  const properties = given[0]?.properties ?? [];
  // Each with the comma behind it; one before the last of all may stay.
  return properties.flatMap(({ key, start, end: ownEnd }, place): Cut[] =>
    NEEDED.has(key?.name ?? "") ? [] : [[start, properties[place + 1]?.start ?? ownEnd]],
  );
}

/** Every call that is made when a module is loaded, the outer ones first. */
function visitCalls(node: object, onCall: (call: Call) => void): void {
  const type = "type" in node ? String(node.type) : "";
  // What is called later may be called for what it does.
  if (type.includes("Function")) return;
  if (type === "CallExpression") onCall(node as Call);
  for (const part of Object.values(node)) {
    if (typeof part === "object" && part !== null) visitCalls(part, onCall);
  }
}

/** The properties of every object that is written down in a program. */
function visitObjects(node: object, onObject: (properties: readonly Property[]) => void): void {
  if ("properties" in node && Array.isArray(node.properties)) onObject(node.properties as Property[]);
  for (const part of Object.values(node)) {
    if (typeof part === "object" && part !== null) visitObjects(part, onObject);
  }
}

/** The text without some of its parts, and a part within another goes with it; a part without length is a call's place. */
function leaveOut(text: string, cuts: readonly Cut[]): string {
  let kept = "";
  let from = 0;
  let marked = -1;
  for (const [start, end] of cuts.toSorted(([a, aEnd], [b, bEnd]) => a - b || aEnd - bEnd)) {
    if (start < from) {
      from = Math.max(from, end);
      continue;
    }
    kept += text.slice(from, start);
    // Calls of one chain begin at the same place.
    if (start === end && start !== marked) kept += PURE;
    if (start === end) marked = start;
    from = end;
  }
  return kept + text.slice(from);
}
