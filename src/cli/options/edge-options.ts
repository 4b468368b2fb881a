import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Client, createClient } from "../../client/client.ts";
import type { Retry } from "../../client/retry.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { chooseEdge, type ChosenEdge, type EdgeChoice, readContexts } from "../context/choose-edge.ts";
import type { Shell } from "../shell/shell.ts";

/** Edge and key of a command, and whether it answers as JSON. */
export interface EdgeOptions extends EdgeChoice {
  readonly json: boolean;
}

/** Adds them to a command; `scopes` says in words what the key has to be for. */
export function addEdge(command: Command, scopes: string): Command {
  return command
    .addOption(
      new Option("--edge <url>", "address of the edge (MILLRACE_EDGE; else the context's, else the local one)"),
    )
    .addOption(new Option("--key <key>", `API key with the ${scopes} (MILLRACE_KEY; else the context's)`))
    .addOption(new Option("--context <name>", "a context: see `millrace context` (MILLRACE_CONTEXT)"))
    .addOption(new Option("--json", "print JSON and nothing else").default(false));
}

/** File in which `npm start` keeps its key. */
const LOCAL_KEY = join(".millrace", "admin.key");

/** A client for the edge that was chosen by options, environment and contexts; `retry` is for long transfers. */
export async function openEdge(
  choice: EdgeChoice,
  shell: Shell,
  localKeyFile = LOCAL_KEY,
  retry?: Retry,
): Promise<Client> {
  const { edge, key } = await findEdge(choice, shell, localKeyFile);
  return createClient({ baseUrl: edge, key, fetch: shell.fetch, ...(retry !== undefined && { retry }) });
}

/** The edge that was chosen, and the key for it where there is one. */
export async function findEdge(
  choice: EdgeChoice,
  shell: Shell,
  localKeyFile: string,
): Promise<{ readonly edge: string; readonly key: string | undefined }> {
  const { edge, key } = chooseEdge(
    choice,
    shell.env,
    await readContexts(shell.env),
    resolve(shell.folder, localKeyFile),
  );
  if (!URL.canParse(edge) || !/^https?:$/.test(new URL(edge).protocol)) {
    throw new ProblemError("invalid-request", `${edge} is no address of an edge, such as https://millrace.example.`);
  }
  return { edge, key: await readKey(key) };
}

async function readKey(key: ChosenEdge["key"]): Promise<string | undefined> {
  if (key === null) return undefined;
  if ("secret" in key) return key.secret;
  const text = await readFile(key.file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (key.mayLack && (error.code === "ENOENT" || error.code === "ENOTDIR")) return "";
    throw error;
  });
  return text.trim() || undefined;
}
