import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { CommandLine } from "./install-perf-analyzer.ts";

/** A server of the Open Inference Protocol, with the bearer token for a model. */
export interface Target {
  readonly name: "edge" | "direct";
  /** `host:port` */
  readonly host: string;
  readonly model: string;
  readonly token: string;
}

const CONCURRENCY = "1:4:3";
/** Measurements of one load that it tries until three in a row agree within a tenth. */
const TRIALS = "10";
const UNSTABLE = "Failed to obtain stable measurement within";

/** Runs perf_analyzer on every target, and prints its table's rows. */
export async function measureByPerfAnalyzer(
  [program, ...first]: CommandLine,
  targets: readonly Target[],
  { seconds, stability }: { readonly seconds: number; readonly stability: number },
  print: (row: Record<string, unknown>) => void,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "millrace-perf-"));
  try {
    for (const { name: target, host, model, token } of targets) {
      const file = join(work, `${target}-${model}.csv`);
      const about = { tool: "perf", target, model };
      const options = {
        "-m": model,
        "-u": host,
        "-i": "http",
        "-H": `Authorization:Bearer ${token}`,
        "-f": file,
        "--concurrency-range": CONCURRENCY,
        "--measurement-interval": String(1_000 * seconds),
        "--max-trials": TRIALS,
        "--stability-percentage": String(stability),
      };
      const args = [...first, ...Object.entries(options).flat()];
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const said = `${output}\n${errors}`.trim().split("\n");
      for (const row of await readCsv(file)) print({ ...about, ok: true, ...row });
      // A busy machine may never be stable; what was measured is no failure then.
      const unstable = said.filter((line) => line.startsWith(UNSTABLE));
      for (const line of unstable) print({ ...about, ok: null, said: line });
      if (child.exitCode !== 0 && unstable.length === 0) print({ ...about, ok: false, said: said.slice(-3).join(" ") });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Rows of its table by their columns; none where it wrote no file. */
async function readCsv(file: string): Promise<Record<string, string>[]> {
  const [head = "", ...lines] = (await readFile(file, "utf8").catch(() => "")).trim().split("\n");
  const columns = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, index) => [columns[index] ?? index, cell])));
}
