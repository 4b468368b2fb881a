import type { Command } from "commander";
import { type CommandLine, createCommands, runCommands } from "./commands.ts";
import { deployCommand } from "./deploy/deploy-command.ts";
import { upCommand } from "./deploy/up-command.ts";
import type { Shell } from "./shell/shell.ts";

/** The command line of a checkout, which has an edge of its own. */
const CHECKOUT: CommandLine = {
  name: "millrace",
  description: "Benchmarks, inference within a latency budget, and history, on your own runners",
  own: (shell) => [upCommand(), deployCommand(shell)],
};

export function createProgram(shell: Shell): Command {
  return createCommands(CHECKOUT, shell);
}

/** Runs a command line, without the program's name, to its end; whatever goes wrong ends as a code and a line. */
export function runProgram(args: readonly string[], shell: Shell): Promise<void> {
  return runCommands(CHECKOUT, args, shell);
}
