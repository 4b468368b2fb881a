import { spawn } from "node:child_process";
import { isatty } from "node:tty";

/**
 * Runs one of our programs in place of this process: with its streams and its signals, and ends with the program's exit
 * code.
 */
export function runInPlace(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): void {
  const child = spawn(process.execPath, [program, ...args], { stdio: "inherit", env: environment });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  // A terminal sends Ctrl-C to both, and a second one ends a runner at once.
  process.on("SIGINT", [0, 1, 2].some((stream) => isatty(stream)) ? () => {} : pass);
  process.on("SIGTERM", pass);
  child.on("exit", (code) => process.exit(code ?? 1));
}
