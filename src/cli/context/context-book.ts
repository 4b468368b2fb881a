import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { Name } from "../../protocol/page.ts";
import { parseJson } from "../../protocol/parse-json.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Shell } from "../shell.ts";

/** An edge under a name, with its key or the file that the key is read from at each use. */
const Context = z.object({ edge: z.string(), key: z.string().optional(), keyFile: z.string().optional() });
export type Context = z.infer<typeof Context>;

/** The named edges of a person, and which of them is asked unless told. */
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
