import { spawn } from "node:child_process";
import { join } from "node:path";
import { Command } from "commander";

/** `millrace up`: what `npm start` does, which is a program of its own with its own options and help. */
export function upCommand(): Command {
  return new Command("up")
    .description("Start the edge and a runner on this machine, as `npm start` does; `up --help` tells the options")
    .helpOption(false)
    .allowUnknownOption()
    .argument("[options...]")
    .action(startLocal);
}

function startLocal(options: string[]): void {
  const program = join(import.meta.dirname, "../local/start.mjs");
  const child = spawn(process.execPath, [program, ...options], { stdio: "inherit" });
  // Ctrl-C reaches the child by itself; a signal to this process alone has to be passed on.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code) => process.exit(code ?? 1));
}
