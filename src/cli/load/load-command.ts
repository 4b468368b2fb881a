import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { inferFrame } from "../../client/infer.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { burstArrivals, poissonArrivals, readArrivals } from "./arrivals.ts";
import { LiveLine, type LoadReport, reportLoad } from "./load-report.ts";
import { type LoadOutcome, runOpenLoop } from "./open-loop.ts";
import { findVersion } from "../infer/find-version.ts";
import { wholeBetween, numberBetween } from "../options/option-values.ts";
import { renderFacts } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface LoadOptions extends EdgeOptions {
  readonly model: string;
  readonly budget: number;
  readonly rate: number;
  readonly duration: number;
  readonly arrivals: "poisson" | "bursts";
  readonly trace?: string;
  readonly seed: number;
  readonly direct?: boolean;
  readonly confidence: number;
  readonly refuseWithin?: number;
}

const REFRESH_MS = 250;
/** All arrivals and outcomes of a load are held in memory. */
const MAX_REQUESTS = 5_000_000;

/** When requests shall arrive, and how long. */
interface LoadPlan {
  readonly arrivalsMs: Float64Array;
  readonly durationMs: number;
}

/** `millrace load`: requests at times that are fixed in advance, and what became of them. */
export function loadCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("load"), "scopes infer and read")
    .description("Put a load on a model: an open loop, latency from the scheduled arrival")
    .requiredOption("--model <name>", "model, or `name@2` for a version")
    .option("--budget <ms>", "budget of each request", numberBetween(LIMITS.minBudgetMs, LIMITS.maxBudgetMs), 50)
    .option("--confidence <share>", "that the budget is kept", numberBetween(0.5, 0.999), 0.99)
    .option(
      "--refuse-within <ms>",
      "time from the arrival within which a refusal is early enough; not with --direct (default: at once)",
      numberBetween(0, LIMITS.maxBudgetMs),
    )
    .option("--rate <requests/s>", "mean rate of arrivals", numberBetween(0.01, 1e5), 50)
    .option("--duration <s>", "how long requests arrive", numberBetween(0.1, 86_400), 10)
    .addOption(new Option("--arrivals <kind>", "how they arrive").choices(["poisson", "bursts"]).default("poisson"))
    .option("--trace <file>", "arrivals that were recorded: milliseconds, one a line; instead of rate and duration")
    .option("--direct", "straight to the runner where it can be reached, else through the edge")
    .option("--seed <number>", "of arrivals and inputs", wholeBetween(0, 2 ** 32 - 1), 1)
    .action((options: LoadOptions) => putLoad(options, shell));
}

async function putLoad(options: LoadOptions, shell: Shell): Promise<void> {
  const { budget: budgetMs, confidence, refuseWithin, seed, json } = options;
  if (options.direct === true && refuseWithin !== undefined) {
    throw new ProblemError("invalid-request", "Give --direct or --refuse-within: a direct request is refused at once.");
  }
  const client = await openEdge(options, shell);
  const { arrivalsMs, durationMs } = await planArrivals(options);
  const [name, version] = await findVersion(client, options.model);
  const model = `${name}@${version.version}`;
  const inputs = createSeededInputs(version.inputs, seed);

  const stopping = new AbortController();
  const outcomes: LoadOutcome[] = [];
  const startedAtMs = performance.now();
  let stoppedAtMs = Number.POSITIVE_INFINITY;
  const ignore = shell.onInterrupt(() => {
    stoppedAtMs = performance.now();
    stopping.abort();
    ignore();
  });
  const line = new LiveLine(arrivalsMs.length, startedAtMs);
  const hide = shell.warnColumns === undefined || json ? null : showLine(line, shell.warn, shell.warnColumns);
  let direct = 0;
  const wishes = {
    model,
    budgetMs,
    confidence,
    ...(refuseWithin !== undefined && { refuseWithinMs: refuseWithin }),
  };
  const request = { ...wishes, inputs, ...(options.direct === true && { direct: "auto" as const }) };
  const send = async (): Promise<string> => {
    line.noteSent();
    try {
      const { way } = await inferFrame(client, request);
      if (way === "direct") direct++;
      return "ok";
    } catch (error) {
      return error instanceof ProblemError ? error.problem.code : "unreachable";
    }
  };
  const note = (sent: LoadOutcome) => {
    // Within the budget is what the latency beside it says: the edge counts from where it got the request.
    const outcome = sent.result === "ok" && sent.latencyMs > budgetMs ? { ...sent, result: "late" } : sent;
    outcomes.push(outcome);
    line.noteEnded(outcome, performance.now());
  };
  await runOpenLoop(arrivalsMs, send, note, stopping.signal);
  hide?.();
  ignore();
  const measured = reportLoad(outcomes, Math.min(durationMs, stoppedAtMs - startedAtMs));
  const report = options.direct === true ? { ...measured, direct } : measured;
  shell.print(json ? `${JSON.stringify(report)}\n` : renderReport(report));
}

/** Shows the line on the terminal until what it gives is called. */
function showLine(line: LiveLine, warn: Shell["warn"], columns: number): () => void {
  const show = (text: string) => warn(`\r\x1b[K${text}`);
  const timer = setInterval(() => show(line.render(performance.now(), columns - 1)), REFRESH_MS);
  return () => {
    clearInterval(timer);
    show("");
  };
}

async function planArrivals({ trace, arrivals, rate, duration, seed }: LoadOptions): Promise<LoadPlan> {
  if (trace !== undefined) {
    const arrivalsMs = readArrivals(await readFile(trace, "utf8"));
    if (arrivalsMs.length > MAX_REQUESTS) {
      throw new ProblemError("invalid-request", `--trace may hold at most ${MAX_REQUESTS} arrivals.`);
    }
    return { arrivalsMs, durationMs: arrivalsMs.at(-1) ?? 0 };
  }
  if (rate * duration > MAX_REQUESTS) {
    throw new ProblemError("invalid-request", `--rate times --duration may be at most ${MAX_REQUESTS}.`);
  }
  const plan = { ratePerSecond: rate, durationMs: 1e3 * duration, seed };
  return {
    arrivalsMs: arrivals === "bursts" ? burstArrivals(plan) : poissonArrivals(plan),
    durationMs: plan.durationMs,
  };
}

function renderReport({ results, latencyMs, lagMs, inBudgetShare, direct, ...report }: LoadReport): string {
  const quantiles = (values: LoadReport["latencyMs"]) =>
    values === null
      ? "–"
      : `p50 ${values.p50.toFixed(2)}  p90 ${values.p90.toFixed(2)}  p99 ${values.p99.toFixed(2)}  max ${values.max.toFixed(2)} ms`;
  const rows: [string, string][] = [
    ["offered", `${report.offeredPerSecond.toFixed(1)}/s, ${report.requests} requests`],
    ["goodput", `${report.goodputPerSecond.toFixed(1)}/s in budget`],
    ["in budget", inBudgetShare === null ? "–" : `${(100 * inBudgetShare).toFixed(2)} % of the answered`],
    ["latency", quantiles(latencyMs)],
    ["lag", quantiles(lagMs)],
    ...(direct === undefined ? [] : [["direct", `${direct} of the answered`] satisfies [string, string]]),
    ...Object.entries(results)
      .toSorted(([, a], [, b]) => b - a)
      .map(([result, count]): [string, string] => [result, String(count)]),
  ];
  return renderFacts(rows);
}
