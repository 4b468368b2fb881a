import { createProgram } from "./program.ts";
import { reportError } from "./report-error.ts";
import type { Shell } from "./shell.ts";

/** Runs a command line, without the program's name, to its end; whatever goes wrong ends as a code and a line. */
export async function runProgram(args: readonly string[], shell: Shell): Promise<void> {
  try {
    await createProgram(shell).parseAsync([...args], { from: "user" });
  } catch (error) {
    shell.exit(reportError(error, shell, args.includes("--json")));
  }
}
