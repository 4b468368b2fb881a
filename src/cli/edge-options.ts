import { type Command, Option } from "commander";

/** Which edge a command asks, and with which key. */
export interface EdgeOptions {
  readonly edge: string;
  readonly key?: string;
}

/** Adds them to a command; `scopes` says in words what the key has to be for. */
export function addEdge(command: Command, scopes: string): Command {
  return command
    .addOption(new Option("--edge <url>", "address of the edge").env("MILLRACE_EDGE").default("http://127.0.0.1:8787"))
    .addOption(new Option("--key <key>", `API key with the ${scopes}`).env("MILLRACE_KEY"));
}
