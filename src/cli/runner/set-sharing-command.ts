import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import type { Shell } from "../shell.ts";
import { findRunnerId } from "./find-runner.ts";

const KINDS = {
  share: [endpoints.shareRunner, "Let a runner work for all projects"],
  unshare: [endpoints.unshareRunner, "Let a runner work for its own project alone"],
} as const;

/** `millrace runner share` and `millrace runner unshare`. */
export function setSharingCommand(kind: keyof typeof KINDS, shell: Shell): Command {
  const [endpoint, description] = KINDS[kind];
  return addEdge(new Command(kind), "scope admin")
    .description(description)
    .argument("<runner>", "name or id")
    .action(async (wanted: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const runner = await client.call(endpoint, { params: { id: await findRunnerId(client, wanted) } });
      const whom = runner.shared ? "all projects" : "its own project";
      shell.print(options.json ? `${JSON.stringify(runner)}\n` : `${runner.name} works for ${whom}\n`);
    });
}
