import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMachine } from "../../bench/describe-machine.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import type { DoneFault, Ledger } from "./promises/ledger.ts";
import { renderReport } from "./render-report.ts";
import { runChaos } from "./run-chaos.ts";
import { type RunSummary, summariseRuns } from "./summarise-run.ts";

/** The load while the faults come, and how close they come, of each part. */
const INFERENCES_PER_SECOND = 10;
const MEAN_GAP_MS = 8_000;

export interface ChaosReport {
  readonly machine: Record<string, unknown>;
  readonly minutes: number;
  readonly runs: readonly {
    readonly seed: number;
    readonly violations: readonly string[];
    readonly without: readonly string[];
    readonly timeline: readonly string[];
  }[];
  readonly summary: RunSummary;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Gives the exit code: 2 for a wrong command line, 1 where an invariant was violated. */
async function main(options: Arguments): Promise<number> {
  if (options.kind === "mistake") {
    say(`chaos: ${options.sentence}`);
    return 2;
  }
  const { seeds, durationMs, runners, json, out } = options;
  await ensureBuilt(join(import.meta.dirname, "../.."), say);
  const machine = await describeMachine();
  const ledgers: Ledger[] = [];
  const runs: ChaosReport["runs"][number][] = [];
  for (const seed of seeds) {
    const chosen = { seed, durationMs, runners, inferencesPerSecond: INFERENCES_PER_SECOND, meanGapMs: MEAN_GAP_MS };
    const { ledger, violations, without } = await runChaos({ ...chosen, say });
    ledgers.push(ledger);
    runs.push({ seed, violations, without, timeline: tellFaults(ledger.faults) });
    for (const kind of without) say(`left out, since this machine cannot do it: ${kind}`);
    for (const what of violations) say(`seed ${seed} violated: ${what}`);
  }
  const minutes = (durationMs * seeds.length) / 60e3;
  const report: ChaosReport = { machine, minutes, runs, summary: summariseRuns(ledgers) };
  if (out !== null) await writeFile(out, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${renderReport(report)}\n`);
  return runs.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function tellFaults(faults: readonly DoneFault[]): string[] {
  return faults
    .toSorted((a, b) => a.beganMs - b.beganMs)
    .map(({ part, kind, beganMs, endedMs, severity }) => {
      const where = part === "edge" ? "edge" : `runner-${part}`;
      return `${Math.round(beganMs)} to ${Math.round(endedMs)} ms  ${where}: ${kind} (${severity.toFixed(2)})`;
    });
}

process.exitCode = await main(parseArguments(process.argv.slice(2)));
