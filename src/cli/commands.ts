import { Command } from "commander";
import { VERSION } from "../protocol/wire/release.ts";
import { keysCommand } from "./access/keys-command.ts";
import { projectsCommand } from "./access/projects-command.ts";
import { checkCommand } from "./check/check-command.ts";
import { compareCommand } from "./check/compare-command.ts";
import { completionCommand } from "./completion/completion-command.ts";
import { conformanceCommand } from "./conformance/conformance-command.ts";
import { contextCommand } from "./context/context-command.ts";
import { deviceSuiteCommand } from "./device-suite/device-suite-command.ts";
import { doctorCommand } from "./doctor/doctor-command.ts";
import { historyCommand } from "./history/history-command.ts";
import { actCommand } from "./infer/act-command.ts";
import { inferCommand } from "./infer/infer-command.ts";
import { jobsCommand } from "./jobs/jobs-command.ts";
import { optimiseCommand } from "./jobs/optimise-command.ts";
import { evaluateCommand, trainCommand } from "./jobs/policy-commands.ts";
import { validateCommand } from "./jobs/validate-command.ts";
import { benchCommand } from "./kernels/bench-command.ts";
import { kernelsCommand } from "./kernels/kernels-command.ts";
import { tuneCommand } from "./kernels/tune-command.ts";
import { loadCommand } from "./load/load-command.ts";
import { modelsCommand } from "./models/models-command.ts";
import { runnerCommand } from "./runner/runner-command.ts";
import { reportError } from "./shell/report-error.ts";
import type { Shell } from "./shell/shell.ts";
import { exportCommand, importCommand } from "./transfer/transfer-commands.ts";
import { zooCommand } from "./zoo/zoo-command.ts";

/** What a command line is called, and the commands that it has beside those of every one. */
export interface CommandLine {
  readonly name: "millrace" | "millrace-runner";
  readonly description: string;
  readonly own: (shell: Shell) => readonly Command[];
}

/** The commands of a command line; those that go together stand together. */
export function createCommands({ name, description, own }: CommandLine, shell: Shell): Command {
  const program = new Command(name).description(description).version(VERSION);
  for (const command of own(shell)) program.addCommand(command);
  program
    .addCommand(doctorCommand(shell, name === "millrace-runner" ? "runner" : "checkout"))
    .addCommand(deviceSuiteCommand())
    .addCommand(runnerCommand(shell))
    .addCommand(modelsCommand(shell))
    .addCommand(inferCommand(shell))
    .addCommand(actCommand(shell))
    .addCommand(benchCommand(shell))
    .addCommand(validateCommand(shell))
    .addCommand(optimiseCommand(shell))
    .addCommand(tuneCommand(shell))
    .addCommand(evaluateCommand(shell))
    .addCommand(trainCommand(shell))
    .addCommand(historyCommand(shell))
    .addCommand(jobsCommand(shell))
    .addCommand(kernelsCommand(shell))
    .addCommand(keysCommand(shell))
    .addCommand(projectsCommand(shell))
    .addCommand(loadCommand(shell))
    .addCommand(conformanceCommand(shell))
    .addCommand(compareCommand(shell))
    .addCommand(checkCommand(shell))
    .addCommand(zooCommand(shell))
    .addCommand(exportCommand(shell))
    .addCommand(importCommand(shell))
    .addCommand(contextCommand(shell))
    .addCommand(completionCommand(shell));
  frame(program, shell);
  return program;
}

/** Makes every command write to the shell and throw instead of ending the process; `runCommands` reports errors. */
function frame(command: Command, shell: Shell): void {
  command.exitOverride().configureOutput({
    writeOut: shell.print,
    writeErr: shell.warn,
    outputError: () => {},
    getOutHelpWidth: () => shell.columns ?? 100,
    getErrHelpWidth: () => shell.warnColumns ?? 100,
    getOutHasColors: () => shell.colour,
  });
  for (const each of command.commands) frame(each, shell);
}

/** Runs a command line, without the program's name, to its end; whatever goes wrong ends as a code and a line. */
export async function runCommands(line: CommandLine, args: readonly string[], shell: Shell): Promise<void> {
  try {
    await createCommands(line, shell).parseAsync([...args], { from: "user" });
  } catch (error) {
    shell.exit(reportError(error, shell, args.includes("--json")));
  }
}
