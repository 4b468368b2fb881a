import { join } from "node:path";
import { Command } from "commander";
import { wholeBetween } from "../options/option-values.ts";
import { runInPlace } from "../shell/run-in-place.ts";

interface UpOptions {
  readonly once: boolean;
  readonly json: boolean;
  readonly port?: number;
  readonly dataDir?: string;
  readonly runner: boolean;
}

/** `millrace up`: what `npm start` does, which is a program of its own. */
export function upCommand(): Command {
  return new Command("up")
    .description("Start the edge and a runner on this machine, and make the first run, as `npm start` does")
    .option("--once", "stop after the summary", false)
    .option("--json", "print the summary as one JSON object", false)
    .option(
      "--port <number>",
      "port of the edge on 127.0.0.1; 0 takes a free one (default: 8787)",
      wholeBetween(0, 65_535),
    )
    .option("--data-dir <folder>", "where everything is kept (default: .millrace)")
    .option("--no-runner", "start the edge alone")
    .action(startLocal);
}

function startLocal({ once, json, port, dataDir, runner }: UpOptions): void {
  const options = [
    ...(once ? ["--once"] : []),
    ...(json ? ["--json"] : []),
    ...(port === undefined ? [] : [`--port=${port}`]),
    ...(dataDir === undefined ? [] : [`--data-dir=${dataDir}`]),
    ...(runner ? [] : ["--no-runner"]),
  ];
  runInPlace(join(import.meta.dirname, "../../local/start.mjs"), options);
}
