import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Command } from "commander";
import { installPython } from "../../bench/python-program.ts";
import { ZOO, type ZooModel } from "../../models/zoo.ts";
import { uploadZooModel, waitForPlacements } from "../../src/cli/zoo/place-zoo.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { type LocalStack, placeModel, startLocalStack } from "../e2e/local-stack.ts";
import { installPerfAnalyzer } from "./install-perf-analyzer.ts";
import { measureByPerfAnalyzer, type Target } from "./perf-analyzer.ts";

const ROOT = join(import.meta.dirname, "../..");
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
/** A program of NumPy, which all of them need. */
const READY = "bin/f2py";
/** The policy that the README asks; it is no network of the zoo. */
const POLICY = "cartpole";
const TOOLS = ["client", "perf", "loadgen"] as const;
type Tool = (typeof TOOLS)[number];
const RATE = LIMITS.keyRequestsPerSecond;
/** Tickets cannot be renewed by these tools. */
const TICKET = { budgetMs: 20_000, lifeMs: LIMITS.maxTicketMs, requests: LIMITS.maxTicketRequests };

interface Options {
  readonly tools: readonly Tool[];
  readonly models: readonly string[];
  readonly seconds: number;
  readonly stability: number;
}

type Print = (row: Record<string, unknown>) => void;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function parseArguments(argv: readonly string[]): Options {
  const command = new Command("npm run test:real-clients --")
    .description("Triton's client, perf_analyzer and MLPerf LoadGen against an edge and a runner's own listener")
    .option("--tools <names>", `some of ${TOOLS.join(",")}`, TOOLS.join(","))
    .option("--models <names>", "names of networks of the zoo; without them, all and the policy cartpole")
    .option("--seconds <number>", "of each measurement", "3")
    .option("--stability <percent>", "by which perf_analyzer's measurements may differ", "10")
    .parse(argv, { from: "user" });
  const given = command.opts<{ tools: string; models?: string; seconds: string; stability: string }>();
  const { tools, models } = given;
  const chosen = tools.split(",");
  return {
    tools: TOOLS.filter((tool) => chosen.includes(tool)),
    models: models?.split(",") ?? [POLICY, ...ZOO.map(({ name }) => name)],
    seconds: Number(given.seconds),
    stability: Number(given.stability),
  };
}

/** Installs the tools outside of the repository, once, and prints a row of JSON for each of their findings. */
async function main({ tools, models, seconds, stability }: Options): Promise<number> {
  const requirements = await readFile(REQUIREMENTS);
  const name = `millrace-real-clients-${createHash("sha256").update(requirements).digest("hex").slice(0, 16)}`;
  const folder = join(tmpdir(), name);
  const environment = { folder: pathToFileURL(folder), requirements: REQUIREMENTS, ready: READY };
  await installPython(environment, () => say(`installing the clients into ${folder} (once)`));
  await ensureBuilt(ROOT, say);
  const runnerVariables = () => ({ MILLRACE_DIRECT: "0", MILLRACE_GPU: process.env["MILLRACE_GPU"] ?? "none" });
  const stack = await startLocalStack({ runnerVariables });
  let failures = 0;
  const print: Print = (row) => {
    if (row["ok"] === false) failures++;
    process.stdout.write(`${JSON.stringify(row)}\n`);
  };
  try {
    await placeAll(stack, models);
    const python = join(folder, "bin/python");
    for (const tool of tools) {
      for (const [index, model] of models.entries()) {
        say(`running ${tool} on ${model}`);
        // A ticket ends before a tool is through with all models.
        const targets = await aim(stack, model);
        const asked = { targets, seconds, folder: join(stack.dataDir, "loadgen"), unloads: index === 0 };
        if (tool === "perf") await perfAnalyzer(folder, targets, { seconds, stability }, print);
        else await runPython(python, tool, asked, print);
      }
    }
  } finally {
    await stack.stop();
  }
  say(failures === 0 ? "every operation did as it should" : `${failures} findings are not as they should be`);
  return failures === 0 ? 0 : 1;
}

/** Runs perf_analyzer, or reports that this system cannot. */
async function perfAnalyzer(
  folder: string,
  targets: readonly Target[],
  options: Pick<Options, "seconds" | "stability">,
  print: Print,
): Promise<void> {
  try {
    await measureByPerfAnalyzer(await installPerfAnalyzer(folder, say), targets, options, print);
  } catch (error) {
    print({ tool: "perf", ok: null, said: `not run here: ${(error as Error).message}` });
  }
}

async function placeAll(stack: LocalStack, names: readonly string[]): Promise<void> {
  const { client, runnerId: id } = stack;
  const chosen = names.filter((name) => name !== POLICY).map(findModel);
  if (names.includes(POLICY)) await placeModel(stack, POLICY);
  const uploaded = [];
  for (const model of chosen) uploaded.push(await uploadZooModel(client, model));
  await waitForPlacements(client, uploaded, { id, name: "local" }, (placed) =>
    say(`calibrated ${placed} of ${uploaded.length}`),
  );
}

function findModel(name: string): ZooModel {
  const found = ZOO.find((model) => model.name === name);
  if (found === undefined) throw new Error(`${name} is not in the zoo`);
  return found;
}

/** The edge with a key that may send as fast as it can, and the runner's listener with a ticket for the model. */
async function aim({ client, baseUrl }: LocalStack, model: string): Promise<Target[]> {
  const body = { name: "bench", scopes: ["infer" as const, "submit" as const], requestsPerSecond: RATE };
  const { secret } = await client.call(endpoints.createKey, { body });
  const { url, ticket } = await client.call(endpoints.createTicket, { body: { model, ...TICKET } });
  return [
    { name: "edge", host: new URL(baseUrl).host, model, token: secret },
    { name: "direct", host: new URL(url).host, model, token: ticket },
  ];
}

const SCRIPTS = { client: "check_client.py", loadgen: "drive_loadgen.py" };

async function runPython(python: string, tool: keyof typeof SCRIPTS, asked: object, print: Print): Promise<void> {
  const script = fileURLToPath(new URL(SCRIPTS[tool], import.meta.url));
  const child = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(`${JSON.stringify(asked)}\n`);
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  // LoadGen writes lines of its own between the rows.
  for (const line of output.split("\n").filter((each) => each.startsWith("{")))
    print({ tool, ...(JSON.parse(line) as Record<string, unknown>) });
  if (child.exitCode !== 0) print({ tool, ok: false, said: `it ended with code ${child.exitCode}` });
}

process.exit(await main(parseArguments(process.argv.slice(2))));
