import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Runner } from "../../protocol/runner.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import type { Shell } from "../shell.ts";
import { findRunnerId } from "./find-runner.ts";

const tellState = ({ state }: Runner) => `is ${state}`;
const tellSharing = ({ shared }: Runner) => `works for ${shared ? "all projects" : "its own project"}`;

const KINDS = {
  drain: [endpoints.drainRunner, "Let a runner finish what it has and take nothing new", tellState],
  resume: [endpoints.resumeRunner, "Give a drained runner work again", tellState],
  share: [endpoints.shareRunner, "Let a runner work for all projects", tellSharing],
  unshare: [endpoints.unshareRunner, "Let a runner work for its own project alone", tellSharing],
} as const;

/** `millrace runner drain`, `resume`, `share` and `unshare`. */
export function setWorkCommand(kind: keyof typeof KINDS, shell: Shell): Command {
  const [endpoint, description, tell] = KINDS[kind];
  return addEdge(new Command(kind), "scope admin")
    .description(description)
    .argument("<runner>", "name or id")
    .action(async (wanted: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const runner = await client.call(endpoint, { params: { id: await findRunnerId(client, wanted) } });
      shell.print(options.json ? `${JSON.stringify(runner)}\n` : `${runner.name} ${tell(runner)}\n`);
    });
}
