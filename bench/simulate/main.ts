import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawPlot } from "../../src/edge/plots/draw-plot.ts";
import type { PlotSpec } from "../../src/edge/plots/plot-spec.ts";
import { renderSimulation } from "./render-simulation.ts";
import { parseSimulateArguments, type SimulateOptions } from "./simulate-arguments.ts";
import { simulateFleet } from "./simulate-fleet.ts";
import { loadPlot, spreadPlot } from "./simulation-plots.ts";
import { validateSimulation } from "./validate-simulation.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const PLOT_PX = 760;

/** Runs the requested simulation and returns the exit code: 2 for a wrong command line. */
async function main(argv: readonly string[]): Promise<number> {
  const parsed = parseSimulateArguments(argv);
  if (parsed.kind === "mistake") {
    say(`millrace simulate: ${parsed.sentence}`);
    return 2;
  }
  // Refusals are thrown problems, by the million: nothing reads their stack traces.
  Error.stackTraceLimit = 0;
  const { options } = parsed;
  if (options.validate) await validate(options);
  else await simulate(options);
  return 0;
}

async function simulate(options: SimulateOptions): Promise<void> {
  const runs = [];
  for (const load of options.loads) {
    const startedMs = performance.now();
    const tell = (second: number) =>
      say(`${load}×: ${second} simulated seconds in ${Math.round((performance.now() - startedMs) / 1e3)} s`);
    const result = await simulateFleet(options, load, tell);
    runs.push({ load, result });
    const text = options.json ? JSON.stringify({ load, ...result }) : renderSimulation(load, result);
    process.stdout.write(`${text}\n${options.json ? "" : "\n"}`);
  }
  if (options.out === null) return;
  const results = runs.map(({ result }) => result);
  const rows = [{ options }, ...runs.map(({ load, result }) => ({ load, ...result }))];
  await keep(options.out, "simulation.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
  if (results.length > 1) await keepPlot(options.out, "goodput-by-load.svg", loadPlot(results));
  await keepPlot(options.out, "latency-and-shares.svg", spreadPlot(results));
}

async function validate(options: SimulateOptions): Promise<void> {
  const rows = [];
  for await (const row of validateSimulation(options, say)) {
    rows.push(JSON.stringify(row));
    if (options.json) process.stdout.write(`${rows.at(-1)}\n`);
    else process.stdout.write(`${row.text}\n`);
  }
  if (options.out !== null) await keep(options.out, "validation.jsonl", rows.join("\n"));
}

function keepPlot(folder: string, name: string, spec: PlotSpec): Promise<void> {
  return keep(folder, name, drawPlot(spec, { theme: "auto", width: PLOT_PX }));
}

async function keep(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `${text}\n`);
  say(`kept ${join(folder, name)}`);
}

process.exitCode = await main(process.argv.slice(2));
