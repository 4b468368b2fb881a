import { Command } from "commander";
import { startCommand } from "./runner/start-command.ts";
import { listCommand } from "./runner/list-command.ts";
import { setWorkCommand } from "./runner/set-work-command.ts";
import { statusCommand } from "./runner/status-command.ts";
import { PROCESS, type Shell } from "./shell.ts";

/** `millrace runner`: runs one here, and looks after those of an edge. */
export function runnerCommand(shell: Shell = PROCESS): Command {
  return new Command("runner")
    .description("Run a runner on this machine, and look after those of an edge")
    .addCommand(startCommand())
    .addCommand(listCommand(shell))
    .addCommand(statusCommand(shell))
    .addCommand(setWorkCommand("drain", shell))
    .addCommand(setWorkCommand("resume", shell))
    .addCommand(setWorkCommand("share", shell))
    .addCommand(setWorkCommand("unshare", shell));
}
