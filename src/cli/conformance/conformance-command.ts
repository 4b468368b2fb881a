import { Command, InvalidArgumentError } from "commander";
import { collect, numberBetween, wholeBetween } from "../options/option-values.ts";
import { openProgressLine } from "../render/progress-line.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { CARRIERS } from "./carry-value.ts";
import { type Judgement, untold } from "./judgement.ts";
import { type Baseline, measureBaseline } from "./measure-baseline.ts";
import { PROPERTIES, type Property } from "./properties.ts";
import { type ConformanceReport, exitCodeOf, renderReport } from "./render-report.ts";
import { Sender } from "./sender.ts";
import type { Suite } from "./suite.ts";
import { openTarget, type TargetOptions } from "./target.ts";

interface ConformanceOptions extends TargetOptions {
  readonly deadlineMs?: number;
  readonly toleranceMs?: number;
  readonly lateShare: number;
  readonly only?: readonly Property[];
  readonly rounds: number;
  readonly overloadS: number;
  readonly maxRequests: number;
  readonly maxOpen: number;
  readonly maxS: number;
  readonly seed: number;
  readonly json: boolean;
}

/** `millrace conformance`: how any server over HTTP keeps deadlines. It knows no edge and sends nothing elsewhere. */
export function conformanceCommand(shell: Shell = PROCESS): Command {
  return new Command("conformance")
    .description(
      "Judge how a server, by the Open Inference Protocol or plain HTTP, keeps deadlines (docs/conformance.md)",
    )
    .requiredOption("--url <url>", "the server, such as http://127.0.0.1:8000; nothing else is asked")
    .requiredOption(
      "--deadline <carrier>",
      `how a deadline travels: ${Object.keys(CARRIERS).join(", ")}, none; or header:<name>:<unit>, body:<JSON pointer>:<unit> with s, ms, us or ns`,
    )
    .option("--model <name>", "Open Inference Protocol: this model, with inputs made from its metadata")
    .option("--path <path>", "plain HTTP: this path below --url")
    .option("--method <method>", "of the request", "POST")
    .option("--body <file>", "JSON of the request, instead of inputs from metadata; - is standard input")
    .option("--rows <n>", "rows of inputs from metadata whose first size is free", wholeBetween(1, 4_096), 1)
    .option("--header <name: value>", "of every request; may be given several times", collect(String), [])
    .option("--key-file <file>", "file of a bearer token for every request")
    .option("--reset", "close connections by a TCP reset, where a server cannot see an ordinary end", false)
    .option("--retry-key <place>", "where the server reads an idempotency key: header:<name> or body:<JSON pointer>")
    .option("--deadline-ms <ms>", "deadline (default: 10 idle latencies, at least 100)", numberBetween(1, 600_000))
    .option(
      "--tolerance-ms <ms>",
      "how much later an end may be seen (default: a tenth of the deadline, at least 25)",
      numberBetween(1, 60_000),
    )
    .option(
      "--late-share <share>",
      "largest share of late ones among admitted requests",
      numberBetween(1e-4, 0.5),
      0.001,
    )
    .option("--only <properties>", `of ${Object.keys(PROPERTIES).join(", ")}, with commas between`, readProperties)
    .option("--rounds <n>", "rounds of each burst", wholeBetween(6, 100), 6)
    .option("--overload-s <s>", "length of an overload", numberBetween(1, 60), 5)
    .option("--max-requests <n>", "all requests of the run", wholeBetween(100, 5_000_000), 200_000)
    .option("--max-open <n>", "open requests; a load is cut short there", wholeBetween(64, 16_384), 4_096)
    .option("--max-s <s>", "length of the run", numberBetween(10, 7_200), 900)
    .option("--seed <number>", "of arrivals", wholeBetween(0, 2 ** 31), 1)
    .option("--json", "print one JSON document, and no progress", false)
    .action((options: ConformanceOptions) => runSuite(options, shell));
}

function readProperties(text: string): Property[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(PROPERTIES, name));
  if (unknown === undefined) return names as Property[];
  throw new InvalidArgumentError(`must be of ${Object.keys(PROPERTIES).join(", ")}.`);
}

async function runSuite(options: ConformanceOptions, shell: Shell): Promise<void> {
  const target = await openTarget(options, shell);
  const { maxRequests, maxOpen, maxS, reset } = options;
  const sender = new Sender(target, { maxRequests, maxOpen, maxMs: 1e3 * maxS, resets: reset });
  const ignore = shell.onInterrupt(() => sender.stop("it was interrupted"));
  const line = openProgressLine(shell, !options.json);
  const asked = options.only ?? (Object.keys(PROPERTIES) as Property[]);
  const begunAt = new Date();
  const show = (property: string, done: number) => (what: string) =>
    line.show({ what: `${property}: ${what}`, done, total: asked.length });
  try {
    const baseline = await measureBaseline(sender, show("baseline", 0));
    const bounds = chooseBounds(options, baseline);
    const { lateShare, rounds, overloadS, seed } = options;
    const suite: Suite = {
      target,
      sender,
      baseline,
      ...bounds,
      lateShare,
      rounds,
      overloadMs: 1e3 * overloadS,
      seed,
      say: (what) => say(what),
    };
    let say = show("", 0);
    const properties: ConformanceReport["properties"] = [];
    for (const [done, property] of asked.entries()) {
      say = show(PROPERTIES[property].title, done);
      properties.push({ property, ...(await judgeProperty(property, suite)) });
    }
    line.clear();
    const exitCode = exitCodeOf(properties);
    const durationS = (Date.now() - begunAt.getTime()) / 1e3;
    const report = {
      exitCode,
      url: target.url.href,
      atIso: begunAt.toISOString(),
      durationS,
      requests: sender.sent,
      baseline,
      ...bounds,
      properties,
    };
    shell.print(options.json ? `${JSON.stringify(report)}\n` : renderReport(report, shell));
    shell.exit(exitCode);
  } finally {
    line.clear();
    ignore();
    sender.close();
  }
}

/** A property that was under way when the run ended has no verdict. */
async function judgeProperty(property: Property, suite: Suite): Promise<Judgement> {
  const { stopped } = suite.sender;
  const judgement = stopped.aborted ? null : await PROPERTIES[property].measure(suite);
  if (judgement !== null && !stopped.aborted) return judgement;
  return untold(`The run ended before: ${String(stopped.reason)}.`, judgement?.figures);
}

const LEAST_DEADLINE_MS = 100;
const IDLE_LATENCIES = 10;
const LEAST_TOLERANCE_MS = 25;

function chooseBounds(options: ConformanceOptions, { idleP50Ms }: Baseline): Pick<Suite, "deadlineMs" | "toleranceMs"> {
  const deadlineMs = options.deadlineMs ?? Math.max(LEAST_DEADLINE_MS, Math.ceil(IDLE_LATENCIES * idleP50Ms));
  return { deadlineMs, toleranceMs: options.toleranceMs ?? Math.max(LEAST_TOLERANCE_MS, Math.ceil(0.1 * deadlineMs)) };
}
