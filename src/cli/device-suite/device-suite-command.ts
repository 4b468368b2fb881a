import { join } from "node:path";
import { Command } from "commander";
import { numberBetween } from "../options/option-values.ts";
import { runInPlace } from "../shell/run-in-place.ts";

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
    .option("--resume", "keep that folder's checks that passed or cannot be made here, and make the others", false)
    .option("--json", "print the outcome as one JSON object, and no progress", false)
    .action(startSuite);
}

function startSuite({ gpu, out, only, limitS, resume, json }: SuiteOptions): void {
  const given = { gpu, out, only, "limit-s": limitS };
  const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const program = join(import.meta.dirname, "../../gpu-runner/device-suite/main.ts");
  const flags = [...(resume ? ["--resume"] : []), ...(json ? ["--json"] : [])];
  runInPlace(program, [...options, ...flags]);
}
