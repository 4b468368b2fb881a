import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";

export interface LocalOptions {
  readonly once: boolean;
  readonly json: boolean;
  readonly port: number;
  readonly dataDir: string;
  readonly runner: boolean;
}

/** Options of `npm start`; a wrong one ends the process with a sentence and code 1. */
export function parseArguments(argv: readonly string[]): LocalOptions {
  const command = new Command("npm start --")
    .description("One machine: the edge, a runner, and the first run")
    .option("--once", "stop after the summary", false)
    .option("--json", "print the summary as one JSON object", false)
    .option("--port <number>", "port of the edge on 127.0.0.1; 0 takes a free one", parsePort, 8787)
    .option("--data-dir <folder>", "where everything is kept", ".millrace")
    .option("--no-runner", "start the edge alone")
    .parse(argv, { from: "user" });
  const options = command.opts<LocalOptions>();
  return { ...options, dataDir: resolve(options.dataDir) };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("must be a port, 0 to 65535.");
  return port;
}
