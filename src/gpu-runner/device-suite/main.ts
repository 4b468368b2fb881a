/**
 * `node main.ts [--gpu <name>|software] [--out <folder>] [--only <parts>] [--limit-s <seconds>] [--resume] [--json]`:
 * checks a GPU and writes report.json and report.html. Exit code 0: nothing failed, 1: something did, 2: wrong command
 * line.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { DeviceHost } from "../device-host/device-host.ts";
import { explain } from "./run-check.ts";
import { Selection } from "./selection.ts";
import { PARTS, runSuite } from "./suite.ts";
import { describeSubject, openFolder, readEarlier, ReportWriter } from "./suite-report.ts";

interface SuiteArguments {
  /** Part of an adapter's name, `software`, or `auto` for the best one. */
  readonly gpu: string;
  readonly folder: string;
  readonly only: Selection;
  readonly limitMs: number;
  readonly isResumed: boolean;
  readonly asJson: boolean;
}

/** Longest suite: a day. */
const MOST_S = 86_400;

/** Reads the command line. Fails with `invalid-request`, and names the option. */
function readArguments(args: readonly string[]): SuiteArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      gpu: { type: "string", default: "auto" },
      out: { type: "string", default: "device-suite" },
      only: { type: "string", default: "" },
      "limit-s": { type: "string", default: "540" },
      resume: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const limitS = Number(values["limit-s"]);
  if (!(limitS > 0 && limitS <= MOST_S)) {
    throw new ProblemError("invalid-request", `--limit-s must be a number of seconds up to ${MOST_S}.`);
  }
  return {
    gpu: values.gpu,
    folder: values.out,
    only: new Selection(
      values.only,
      PARTS.map(({ name }) => name),
    ),
    limitMs: 1e3 * limitS,
    isResumed: values.resume,
    asJson: values.json,
  };
}

/** Limit of loading or running a network on an emulation. */
const EMULATED_RUN_MS = 120_000;

/** Of this user: a process loads the software GPU's driver from here. */
const CACHE_DIR = join(homedir(), ".millrace", "device-suite");

function startHosts(gpu: string): Promise<DeviceHost[]> {
  const shared = { cacheDir: CACHE_DIR, logger: pino({ level: "silent" }) };
  const wanted =
    gpu === "auto"
      ? ({ driver: "auto" } as const)
      : gpu === "software"
        ? ({ driver: "software", runLimitMs: EMULATED_RUN_MS } as const)
        : ({ driver: "own", adapter: gpu } as const);
  return Promise.all([
    DeviceHost.start({ role: "gpu", deviceKey: "gpu0", models: "on", ...wanted, ...shared }),
    DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
  ]);
}

async function main(): Promise<number> {
  const { gpu, folder, only, limitMs, isResumed, asJson } = readArguments(process.argv.slice(2));
  const startedAt = new Date().toISOString();
  const say = (text: string) => void (asJson || process.stderr.write(`${text}\n`));
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());
  await openFolder(folder);
  const [host, cpu] = (await startHosts(gpu)) as [DeviceHost, DeviceHost];
  try {
    const subject = await describeSubject(host);
    say(
      `${subject.device.name}${subject.device.software ? " (software)" : ""}, ${subject.device.fingerprint.driver ?? ""}`,
    );
    const earlier = isResumed ? await readEarlier(folder, subject) : [];
    const writer = new ReportWriter(folder, { subject, startedAt, limitMs });
    await writer.write(earlier);
    const checks = await runSuite(
      PARTS.filter(({ name }) => only.hasPart(name)),
      { host, cpu, say },
      {
        // Starting counts, too.
        limitMs: limitMs - performance.now(),
        earlier,
        wants: (part, name) => only.hasCheck(part, name),
        keep: (each) => writer.write(each),
        signal: stopping.signal,
      },
    );
    await writer.write(checks, true);
    only.refuseUnknown(checks);
    const count = (wanted: string) => checks.filter(({ outcome }) => outcome === wanted).length;
    const outcome = { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), ...writer.paths };
    const { passed, failed, skipped, html } = outcome;
    const told = asJson ? JSON.stringify(outcome) : `${passed} passed, ${failed} failed, ${skipped} skipped: ${html}`;
    process.stdout.write(`${told}\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await Promise.all([host.stop(), cpu.stop()]);
  }
}

/** A wrong command line, which `parseArgs` throws as a TypeError with a code, or ours. */
function isWrongUse(error: unknown): boolean {
  if (error instanceof ProblemError) return error.problem.code === "invalid-request";
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const text = isWrongUse(error) || error instanceof ProblemError ? (error as Error).message : explain(error);
    process.stderr.write(`millrace device-suite: ${text}\n`);
    process.exit(isWrongUse(error) ? 2 : 1);
  },
);
