import { Command } from "commander";
import { listCommand } from "./models/list-command.ts";
import { pushCommand } from "./models/push-command.ts";
import { showCommand } from "./models/show-command.ts";
import { PROCESS, type Shell } from "./shell.ts";

/** `millrace models`: networks on an edge. */
export function modelsCommand(shell: Shell = PROCESS): Command {
  return new Command("models")
    .description("Upload networks, and see where they run and how fast")
    .addCommand(pushCommand(shell))
    .addCommand(listCommand(shell))
    .addCommand(showCommand(shell));
}
