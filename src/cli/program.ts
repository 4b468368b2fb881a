import { Command } from "commander";
import { VERSION } from "../protocol/version.ts";
import { actCommand } from "./act-command.ts";
import { benchCommand } from "./bench-command.ts";
import { checkCommand } from "./check-command.ts";
import { compareCommand } from "./compare-command.ts";
import { completionCommand } from "./completion-command.ts";
import { contextCommand } from "./context-command.ts";
import { deployCommand } from "./deploy-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { evaluateCommand } from "./evaluate-command.ts";
import { exportCommand } from "./export-command.ts";
import { historyCommand } from "./history-command.ts";
import { importCommand } from "./import-command.ts";
import { inferCommand } from "./infer-command.ts";
import { jobsCommand } from "./jobs-command.ts";
import { kernelsCommand } from "./kernels-command.ts";
import { keysCommand } from "./keys-command.ts";
import { loadCommand } from "./load-command.ts";
import { modelsCommand } from "./models-command.ts";
import { optimiseCommand } from "./optimise-command.ts";
import { projectsCommand } from "./projects-command.ts";
import { runnerCommand } from "./runner-command.ts";
import type { Shell } from "./shell.ts";
import { upCommand } from "./up-command.ts";
import { trainCommand } from "./train-command.ts";
import { tuneCommand } from "./tune-command.ts";
import { validateCommand } from "./validate-command.ts";
import { zooCommand } from "./zoo-command.ts";

/** Every command; those that go together stand together. */
export function createProgram(shell: Shell): Command {
  const program = new Command("millrace")
    .description("Benchmarks, inference within a latency budget, and history, on your own runners")
    .version(VERSION)
    .addCommand(upCommand())
    .addCommand(doctorCommand(shell))
    .addCommand(deployCommand(shell))
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

/** Has every command write to the shell and throw instead of ending the process; `runProgram` tells of errors. */
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
