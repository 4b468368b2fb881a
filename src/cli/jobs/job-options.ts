import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { addEdge, type EdgeOptions } from "../edge-options.ts";
import { findRunnerId } from "../runner/find-runner.ts";

/** Which runner takes a job, how its series are labelled, and whether it is waited for. */
export interface JobOptions extends EdgeOptions {
  readonly runner?: string;
  readonly label?: string;
  readonly detach: boolean;
}

/** Adds them, and those of the edge. */
export function addJob(command: Command): Command {
  return addEdge(command, "scopes submit and read")
    .option("--runner <name>", "name or id of the runner that shall take it (default: any that can)")
    .option("--label <label>", "stored with the series, such as a branch")
    .option("--detach", "print the job's id at once, and do not wait", false);
}

/** The fields of a job that they stand for. */
export async function targetOf(
  client: Client,
  { runner, label }: JobOptions,
): Promise<{ readonly runnerId?: string; readonly label?: string }> {
  return {
    ...(runner !== undefined && { runnerId: await findRunnerId(client, runner) }),
    ...(label !== undefined && { label }),
  };
}
