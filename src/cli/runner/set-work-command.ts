import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import type { Shell } from "../shell.ts";
import { findRunnerId } from "./find-runner.ts";

const KINDS = {
  drain: [endpoints.drainRunner, "Let a runner finish what it has and take nothing new"],
  resume: [endpoints.resumeRunner, "Give a drained runner work again"],
} as const;

/** `millrace runner drain` and `millrace runner resume`. */
export function setWorkCommand(kind: keyof typeof KINDS, shell: Shell): Command {
  const [endpoint, description] = KINDS[kind];
  return addEdge(new Command(kind), "scope admin")
    .description(description)
    .argument("<runner>", "name or id")
    .action(async (wanted: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const runner = await client.call(endpoint, { params: { id: await findRunnerId(client, wanted) } });
      shell.print(options.json ? `${JSON.stringify(runner)}\n` : `${runner.name} is ${runner.state}\n`);
    });
}
