import { Argument, Command } from "commander";
import { bashScript } from "./completion/bash-script.ts";
import { type CommandWords, listCommandWords, type NameKind } from "./completion/command-words.ts";
import { fishScript } from "./completion/fish-script.ts";
import { listNames } from "./completion/list-names.ts";
import { zshScript } from "./completion/zsh-script.ts";
import { addEdge, type EdgeOptions } from "./edge-options.ts";
import { PROCESS, type Shell } from "./shell.ts";

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
