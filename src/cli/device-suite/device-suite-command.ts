import { spawn } from "node:child_process";
import { join } from "node:path";
import { Command } from "commander";
import { numberBetween } from "../options/option-values.ts";

interface SuiteOptions {
  readonly gpu?: string;
  readonly out?: string;
  readonly only?: string;
  readonly limitS?: number;
  readonly resume: boolean;
  readonly json: boolean;
}

/** `millrace device-suite`: checks a GPU of this machine, without an edge. It is a program of its own. */
export function deviceSuiteCommand(): Command {
  return new Command("device-suite")
    .description("Check a GPU of this machine from end to end, and write a report")
    .option("--gpu <name|software>", "part of the adapter's name, or the software GPU (default: the best adapter)")
    .option("--out <folder>", "where report.json and report.html are written (default: device-suite)")
    .option("--only <checks>", "parts, or beginnings of checks, such as kernels,networks/lenet5 (default: all)")
    .option("--limit-s <seconds>", "time for all checks (default: 540)", numberBetween(1, 86_400))
    .option("--resume", "keep what passed or was skipped in that folder, and check the rest", false)
    .option("--json", "print the outcome as one JSON object, and no progress", false)
    .action(startSuite);
}

function startSuite({ gpu, out, only, limitS, resume, json }: SuiteOptions): void {
  const given = { gpu, out, only, "limit-s": limitS };
  const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const program = join(import.meta.dirname, "../../gpu-runner/device-suite/main.ts");
  const flags = [...(resume ? ["--resume"] : []), ...(json ? ["--json"] : [])];
  const child = spawn(process.execPath, [program, ...options, ...flags], { stdio: "inherit" });
  // Ctrl-C reaches the child by itself; a signal to this process alone has to be passed on.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code) => process.exit(code ?? 1));
}
