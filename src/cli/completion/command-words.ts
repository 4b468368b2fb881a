import type { Command } from "commander";

/** Kind of a first argument whose values only the edge knows. */
export type NameKind = "model" | "kernel" | "runner" | "job" | "context";

/** One command of the tree: how it is reached, and what may stand behind it. */
export interface CommandWords {
  /** Such as `models push`; empty of the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly flag: string; readonly description: string; readonly takesValue: boolean }[];
  /** Words that the first argument may be. */
  readonly choices: readonly string[];
  readonly names: NameKind | null;
}

const NAMED: Readonly<Record<string, NameKind>> = {
  model: "model",
  policy: "model",
  kernel: "kernel",
  runner: "runner",
  job: "job",
};

/** The whole tree of commands, each with what a shell can offer behind it. */
export function listCommandWords(command: Command, path: readonly string[] = []): CommandWords[] {
  const [argument] = command.registeredArguments;
  const isContext = path[0] === "context" && argument !== undefined && path[1] !== "add";
  const own: CommandWords = {
    path: path.join(" "),
    commands: command.commands.map((each) => ({ name: each.name(), description: sentenceOf(each.description()) })),
    options: command.options.flatMap(({ long, description, required, optional }) =>
      long == null ? [] : [{ flag: long, description: sentenceOf(description), takesValue: required || optional }],
    ),
    choices: argument?.argChoices ?? [],
    names: isContext ? "context" : (NAMED[argument?.name() ?? ""] ?? null),
  };
  return [own, ...command.commands.flatMap((each) => listCommandWords(each, [...path, each.name()]))];
}

/** Up to the first colon or full stop: a line beside a word is short. */
function sentenceOf(description: string): string {
  return description.split(/[:;]\s|\.\s/, 1)[0] ?? "";
}
