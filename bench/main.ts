import { type Arguments, parseArguments } from "./arguments.ts";
import { BENCHES } from "./benches.ts";
import { describeMachine } from "./describe-machine.ts";
import { renderTable } from "./render-table.ts";
import type { Row } from "./row.ts";
import { saveResults } from "./save-results.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the requested benches and returns the exit code: 2 for a wrong command line, 1 where a bench failed. */
async function main(options: Arguments): Promise<number> {
  switch (options.kind) {
    case "list":
      for (const [name, { description }] of BENCHES) process.stdout.write(`${name.padEnd(12)} ${description}\n`);
      return 0;
    case "mistake":
      say(`millrace bench: ${options.sentence}`);
      return 2;
    case "run": {
      let failures = 0;
      for (const bench of options.benches) {
        try {
          await runBench(bench, options);
        } catch (error) {
          failures++;
          say(
            `millrace bench: ${bench} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          );
        }
      }
      return failures === 0 ? 0 : 1;
    }
  }
}

/** Rows are printed as JSON once they are known, or as one table at the end. */
async function runBench(bench: string, { rounds, json, save }: Extract<Arguments, { kind: "run" }>): Promise<void> {
  const machine = await describeMachine();
  const rows: Row[] = [];
  const measure = await BENCHES.get(bench)?.load();
  for await (const row of measure?.({ bench, rounds, save, say }) ?? []) {
    rows.push(row);
    if (json) process.stdout.write(`${JSON.stringify(row)}\n`);
  }
  if (!json) process.stdout.write(`${renderTable(rows)}\n\n`);
  if (save) say(`kept in ${await saveResults(machine, rows)}`);
}

process.exit(await main(parseArguments(process.argv.slice(2), [...BENCHES.keys()])));
