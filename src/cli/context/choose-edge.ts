import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { Name } from "../../protocol/wire/page.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Shell } from "../shell/shell.ts";

/** An edge under a name, with its key or the file that the key is read from at each use. */
const Context = z.object({ edge: z.string(), key: z.string().optional(), keyFile: z.string().optional() });
export type Context = z.infer<typeof Context>;

/** The user's named edges, and the default one. */
const ContextBook = z.object({ current: z.string().nullable(), contexts: z.record(Name, Context) });
export type ContextBook = z.infer<typeof ContextBook>;

/** `contexts.json` in the person's folder for settings, by the XDG base directory specification. */
export function contextsPath(env: Shell["env"]): string {
  const { XDG_CONFIG_HOME, HOME } = env;
  const folder = XDG_CONFIG_HOME === undefined || XDG_CONFIG_HOME === "" ? null : XDG_CONFIG_HOME;
  return join(folder ?? join(HOME ?? homedir(), ".config"), "millrace", "contexts.json");
}

/** The contexts; none where there is no file. Throws where it is another file. */
export async function readContexts(env: Shell["env"]): Promise<ContextBook> {
  const path = contextsPath(env);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return { current: null, contexts: {} };
  const book = ContextBook.safeParse(parseJson(text));
  if (book.success) return book.data;
  throw new ProblemError("invalid-request", `${path} holds no contexts: mend it, or remove it and add them again.`);
}

/** Keeps the contexts for their owner's eyes only: they hold keys. */
export async function writeContexts(env: Shell["env"], book: ContextBook): Promise<void> {
  const path = contextsPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${process.pid}.partial`;
  await writeFile(partial, `${JSON.stringify(book, null, 2)}\n`, { mode: 0o600 });
  await rename(partial, path);
}

/** Edge options of the command line. */
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
 * Edge and key of a command. Options take precedence over the environment, that over the context, and that over the
 * local edge with the key that `npm start` keeps in `localKeyFile`. A context's key goes to its own edge only.
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

/** Whether an edge is on this machine, by any of the machine's names. */
export function isLocal(edge: string): boolean {
  return URL.canParse(edge) && LOOPBACK.has(new URL(edge).hostname);
}
