import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { Name } from "../../protocol/wire/page.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type Context, type ContextBook, readContexts, writeContexts } from "./choose-edge.ts";
import { renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface AddOptions {
  readonly edge: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly json: boolean;
}

/** `millrace context`: named edges, so that a command needs neither address nor key. */
export function contextCommand(shell: Shell = PROCESS): Command {
  const add = new Command("add")
    .description("Name an edge and its key; the first one is used from then on")
    .argument("<name>", "such as lab")
    .requiredOption("--edge <url>", "address of the edge")
    .option("--key <key>", "API key")
    .option("--key-file <file>", "a file with the key, read at each use")
    .action((name: string, options: AddOptions) => addContext(name, options, shell));
  const use = new Command("use")
    .description("Ask this edge unless told otherwise")
    .argument("<name>")
    .action((name: string, { json }: { json: boolean }) =>
      change(shell, json, (book) => ({ ...book, current: known(book, name) })),
    );
  const list = new Command("list")
    .description("List the contexts; * is the one in use")
    .action(async ({ json }: { json: boolean }) => show(await readContexts(shell.env), json, shell));
  const remove = new Command("remove")
    .description("Forget an edge and its key")
    .argument("<name>")
    .action((name: string, { json }: { json: boolean }) =>
      change(shell, json, (book) => {
        const { [known(book, name)]: _, ...contexts } = book.contexts;
        return { current: book.current === name ? null : book.current, contexts };
      }),
    );
  const command = new Command("context").description("Name the edges that commands ask");
  for (const each of [add, use, list, remove]) {
    command.addCommand(each.option("--json", "print JSON and nothing else", false));
  }
  return command;
}

async function addContext(name: string, { edge, key, keyFile, json }: AddOptions, shell: Shell): Promise<void> {
  if (!Name.safeParse(name).success) {
    throw new ProblemError("invalid-request", `${name} is no name: letters, digits, '.', '_' and '-'.`);
  }
  if (!URL.canParse(edge) || !/^https?:$/.test(new URL(edge).protocol)) {
    throw new ProblemError("invalid-request", `--edge must be an address such as https://millrace.example.`);
  }
  if (key !== undefined && keyFile !== undefined) {
    throw new ProblemError("invalid-request", "Give --key or --key-file, and not both.");
  }
  const path = keyFile === undefined ? undefined : resolve(shell.folder, keyFile);
  // Reports an unreadable file now instead of at its first use.
  if (path !== undefined) await readFile(path, "utf8");
  const context: Context = { edge, ...(key !== undefined && { key }), ...(path !== undefined && { keyFile: path }) };
  await change(shell, json, ({ current, contexts }) => ({
    current: current ?? name,
    contexts: { ...contexts, [name]: context },
  }));
}

async function change(shell: Shell, json: boolean, revise: (book: ContextBook) => ContextBook): Promise<void> {
  const book = revise(await readContexts(shell.env));
  await writeContexts(shell.env, book);
  show(book, json, shell);
}

/** The contexts without their keys. */
function show({ current, contexts }: ContextBook, json: boolean, shell: Shell): void {
  const rows = Object.entries(contexts).map(([name, { edge, key, keyFile }]) => ({
    name,
    current: name === current,
    edge,
    key: keyFile ?? (key === undefined ? null : `${key.slice(0, 6)}…`),
  }));
  if (json) return shell.print(`${JSON.stringify(rows)}\n`);
  if (rows.length === 0) return shell.print("No context yet: millrace context add <name> --edge <url> --key <key>\n");
  const cells = rows.map((row) => [row.current ? "*" : "", row.name, row.edge, row.key ?? "–"]);
  shell.print(renderTable([["", "name", "edge", "key"], ...cells], shell.columns));
}

function known({ contexts }: ContextBook, name: string): string {
  if (Object.hasOwn(contexts, name)) return name;
  const names = Object.keys(contexts).join(", ") || "none yet";
  throw new ProblemError("not-found", `There is no context ${name}; there is: ${names}.`);
}
