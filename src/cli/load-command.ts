import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { createClient } from "../client/client.ts";
import { inferFrame } from "../client/infer-frame.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ProblemError } from "../protocol/problem.ts";
import { createSeededInputs } from "../protocol/seeded-inputs.ts";
import { burstArrivals, poissonArrivals, readArrivals } from "./load/arrivals.ts";
import { LiveLine } from "./load/live-line.ts";
import { type LoadReport, reportLoad } from "./load/load-report.ts";
import { type LoadOutcome, runOpenLoop } from "./load/open-loop.ts";

interface LoadOptions {
  readonly edge: string;
  readonly key?: string;
  readonly model: string;
  readonly budget: number;
  readonly rate: number;
  readonly duration: number;
  readonly arrivals: "poisson" | "bursts";
  readonly trace?: string;
  readonly seed: number;
  readonly json: boolean;
}

const REFRESH_MS = 250;
/** Where the terminal does not tell its width. */
const COLUMNS = 80;

/** `millrace load`: requests at times that are fixed in advance, and what became of them. */
export function loadCommand(): Command {
  return new Command("load")
    .description("Put a load on a model: an open loop, latency from the scheduled arrival")
    .requiredOption("--model <name>", "model, or `name@2` for a version")
    .addOption(new Option("--edge <url>", "address of the edge").env("MILLRACE_EDGE").default("http://127.0.0.1:8787"))
    .addOption(new Option("--key <key>", "API key with the scopes infer and read").env("MILLRACE_KEY"))
    .option("--budget <ms>", "budget of each request", number(LIMITS.minBudgetMs, LIMITS.maxBudgetMs), 50)
    .option("--rate <requests/s>", "mean rate of arrivals", number(0.01, 1e5), 50)
    .option("--duration <s>", "how long requests arrive", number(0.1, 86_400), 10)
    .addOption(new Option("--arrivals <kind>", "how they arrive").choices(["poisson", "bursts"]).default("poisson"))
    .option("--trace <file>", "arrivals that were recorded: milliseconds, one a line; instead of rate and duration")
    .option("--seed <number>", "of arrivals and inputs", number(0, 2 ** 32 - 1), 1)
    .option("--json", "print the report as one JSON object", false)
    .action(putLoad);
}

function number(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`must be a number from ${min} to ${max}.`);
  };
}

async function putLoad(options: LoadOptions): Promise<void> {
  const { edge, key, model, budget: budgetMs, seed, json } = options;
  const client = createClient({ baseUrl: edge, key });
  const arrivalsMs = await planArrivals(options);
  const [name = "", version] = model.split("@", 2);
  const { versions } = await client.call(endpoints.getModel, { params: { model: name } });
  const chosen = versions.findLast((each) => version === undefined || String(each.version) === version);
  if (chosen === undefined) throw new Error(`There is no version ${version} of ${name}.`);
  const inputs = createSeededInputs(chosen.inputs, seed);

  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  const outcomes: LoadOutcome[] = [];
  const startedAtMs = performance.now();
  const line = new LiveLine(arrivalsMs.length, startedAtMs);
  const hide = process.stderr.isTTY && !json ? showLine(line) : null;
  const send = async (): Promise<string> => {
    line.noteSent();
    try {
      const { header } = await inferFrame(client, { model, budgetMs, inputs });
      return header.budgetMet ? "ok" : "late";
    } catch (error) {
      return error instanceof ProblemError ? error.problem.code : "unreachable";
    }
  };
  const note = (outcome: LoadOutcome) => {
    outcomes.push(outcome);
    line.noteEnded(outcome, performance.now());
  };
  await runOpenLoop(arrivalsMs, send, note, stopping.signal);
  hide?.();
  const report = reportLoad(outcomes, performance.now() - startedAtMs);
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderReport(report));
}

/** Shows the line on the terminal until what it gives is called. */
function showLine(line: LiveLine): () => void {
  const show = (text: string) => process.stderr.write(`\r\x1b[K${text}`);
  const timer = setInterval(
    () => show(line.render(performance.now(), (process.stderr.columns ?? COLUMNS) - 1)),
    REFRESH_MS,
  );
  return () => {
    clearInterval(timer);
    show("");
  };
}

async function planArrivals({ trace, arrivals, rate, duration, seed }: LoadOptions): Promise<Float64Array> {
  if (trace !== undefined) return readArrivals(await readFile(trace, "utf8"));
  const plan = { ratePerSecond: rate, durationMs: 1e3 * duration, seed };
  return arrivals === "bursts" ? burstArrivals(plan) : poissonArrivals(plan);
}

function renderReport({ results, latencyMs, lagMs, inBudgetShare, ...report }: LoadReport): string {
  const quantiles = (values: LoadReport["latencyMs"]) =>
    values === null
      ? "–"
      : `p50 ${values.p50.toFixed(2)}  p90 ${values.p90.toFixed(2)}  p99 ${values.p99.toFixed(2)}  max ${values.max.toFixed(2)} ms`;
  const rows = [
    ["offered", `${report.offeredPerSecond.toFixed(1)}/s, ${report.requests} requests`],
    ["goodput", `${report.goodputPerSecond.toFixed(1)}/s in budget`],
    ["in budget", inBudgetShare === null ? "–" : `${(100 * inBudgetShare).toFixed(2)} % of the answered`],
    ["latency", quantiles(latencyMs)],
    ["lag", quantiles(lagMs)],
    ...Object.entries(results)
      .toSorted(([, a], [, b]) => b - a)
      .map(([result, count]) => [result, String(count)]),
  ];
  return `${rows.map(([name = "", value]) => `  ${name.padEnd(20)}${value}`).join("\n")}\n`;
}
