import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { CommandLine } from "./install-perf-analyzer.ts";

/** A server of the Open Inference Protocol, with a bearer token for each model. */
export interface Target {
  readonly name: "edge" | "direct";
  /** `host:port` */
  readonly host: string;
  readonly models: readonly { readonly name: string; readonly token: string }[];
}

const CONCURRENCY = "1:4:3";
/** Measurements of one load that it tries until three in a row agree within a tenth. */
const TRIALS = "10";

/** Runs perf_analyzer on every model of every target, and prints its table's rows. */
export async function measureByPerfAnalyzer(
  [program, ...first]: CommandLine,
  targets: readonly Target[],
  seconds: number,
  print: (row: Record<string, unknown>) => void,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "millrace-perf-"));
  try {
    for (const { name: target, host, models } of targets) {
      for (const { name: model, token } of models) {
        const file = join(work, `${target}-${model}.csv`);
        const options = [
          ...["-m", model, "-u", host, "-i", "http", "-H", `Authorization:Bearer ${token}`],
          ...["--concurrency-range", CONCURRENCY, "--measurement-interval", String(1_000 * seconds)],
          ...["--max-trials", TRIALS, "--stability-percentage", "10", "-f", file],
        ];
        const child = spawn(program, [...first, ...options], { stdio: ["ignore", "pipe", "pipe"] });
        const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
        const about = { tool: "perf", target, model };
        const ok = child.exitCode === 0;
        if (!ok) print({ ...about, ok, said: `${output}\n${errors}`.trim().split("\n").slice(-3).join(" ") });
        for (const row of await readCsv(file)) print({ ...about, ok, ...row });
      }
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
