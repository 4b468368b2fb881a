import { Argument, Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { readContexts } from "../context/choose-edge.ts";
import { listKernels } from "../kernels/find-kernel.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { listRunners } from "../runner/find-runner.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { type CommandWords, listCommandWords, type NameKind } from "./command-words.ts";
import { bashScript, fishScript, zshScript } from "./shell-scripts.ts";

/** Longest wait for the edge after a press of the completion key. */
const PATIENCE_MS = 2_000;

/** The names of a kind that the chosen edge has. Throws where it does not answer soon. */
async function listNames(kind: NameKind, options: EdgeOptions, shell: Shell): Promise<string[]> {
  if (kind === "context") return Object.keys((await readContexts(shell.env)).contexts);
  const patient: typeof fetch = (url, init) => shell.fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const client = await openEdge(options, { ...shell, fetch: patient });
  switch (kind) {
    case "model":
      return (await client.call(endpoints.listModels, { query: { limit: 200 } })).items.map(({ name }) => name);
    case "job":
      return (await client.call(endpoints.listJobs, { query: { limit: 50 } })).items.map(({ id }) => id);
    case "kernel":
      return unique((await listKernels(client)).map(({ name }) => name));
    case "runner":
      return unique((await listRunners(client)).map(({ name }) => name));
  }
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

const SCRIPTS: Readonly<Record<string, (tree: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `millrace completion`: a script by which a shell completes commands, options and names. */
export function completionCommand(shell: Shell = PROCESS): Command {
  const command = new Command("completion").description(
    "Print a script by which a shell completes this program's words",
  );
  for (const [name, write] of Object.entries(SCRIPTS)) {
    const script = new Command(name)
      .description(`For ${name}; its first line says where it goes`)
      .option("--json", "print the script as a JSON string", false)
      .action(({ json }: { json: boolean }) => {
        const text = write(listCommandWords(command.parent ?? command));
        shell.print(json ? `${JSON.stringify(text)}\n` : text);
      });
    command.addCommand(script);
  }
  const names = addEdge(new Command("names"), "scope read")
    .description("Names of one kind that the edge has, a line each: what the scripts ask for")
    .addArgument(new Argument("<kind>").choices(["model", "kernel", "runner", "job", "context"]))
    .action(async (kind: NameKind, options: EdgeOptions) => {
      const found = await listNames(kind, options, shell);
      shell.print(options.json ? `${JSON.stringify(found)}\n` : found.map((name) => `${name}\n`).join(""));
    });
  return command.addCommand(names);
}
