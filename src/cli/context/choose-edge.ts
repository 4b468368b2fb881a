import { ProblemError } from "../../protocol/problem.ts";
import type { Context, ContextBook } from "./context-book.ts";

/** What a person said on the command line. */
export interface EdgeChoice {
  readonly context?: string;
  readonly edge?: string;
  readonly key?: string;
}

/** An edge, and where the key for it comes from. */
export interface ChosenEdge {
  readonly edge: string;
  readonly key: { readonly secret: string } | { readonly file: string; readonly mayLack: boolean } | null;
}

export const LOCAL_EDGE = "http://127.0.0.1:8787";
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Which edge is asked, and by which key: options go before the environment, that before the context, and that before the
 * local edge with the key that `npm start` keeps in `localKeyFile`. A context's key goes to its own edge alone.
 */
export function chooseEdge(
  choice: EdgeChoice,
  env: Readonly<Record<string, string | undefined>>,
  book: ContextBook,
  localKeyFile: string,
): ChosenEdge {
  const [named, wanted] = [choice.context, env["MILLRACE_CONTEXT"] || undefined];
  const byOption = named === undefined ? null : contextOf(book, named);
  const context = byOption ?? contextOf(book, wanted ?? book.current ?? undefined);
  const edge = choice.edge ?? byOption?.edge ?? (env["MILLRACE_EDGE"] || undefined) ?? context?.edge ?? LOCAL_EDGE;
  const keyOf = (each: Context | null) => (each !== null && isSame(each.edge, edge) ? keySource(each) : null);
  const given = choice.key === undefined ? null : { secret: choice.key };
  const variable = env["MILLRACE_KEY"] ? { secret: env["MILLRACE_KEY"] } : null;
  const local = isLocal(edge) ? { file: localKeyFile, mayLack: true } : null;
  return { edge, key: given ?? keyOf(byOption) ?? variable ?? keyOf(context) ?? local };
}

function contextOf(book: ContextBook, name: string | undefined): Context | null {
  if (name === undefined) return null;
  const context = Object.hasOwn(book.contexts, name) ? book.contexts[name] : undefined;
  if (context !== undefined) return context;
  const names = Object.keys(book.contexts).join(", ") || "none yet";
  throw new ProblemError("invalid-request", `There is no context ${name}; there is: ${names}.`);
}

function keySource({ key, keyFile }: Context): ChosenEdge["key"] {
  if (key !== undefined) return { secret: key };
  return keyFile === undefined ? null : { file: keyFile, mayLack: false };
}

function isSame(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}

/** Whether an edge is on this machine, by whichever of its names. */
export function isLocal(edge: string): boolean {
  return URL.canParse(edge) && LOOPBACK.has(new URL(edge).hostname);
}
