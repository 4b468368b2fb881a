import type { Command } from "commander";
import { benchmarkCommand } from "./kernels/benchmark-command.ts";
import { PROCESS, type Shell } from "./shell.ts";

/** `millrace bench`: one kernel, checked and timed on a runner. */
export function benchCommand(shell: Shell = PROCESS): Command {
  return benchmarkCommand("bench", shell);
}
