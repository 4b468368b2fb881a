import { Command, InvalidArgumentError } from "commander";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { renderFinding, renderVerdict } from "../doctor/finding.ts";
import { runApart } from "../shell/run-apart.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { awaitEdge, checkDeployment } from "./check-deployment.ts";
import { ensureFirstKey } from "./ensure-first-key.ts";
import { findDatabase, planSteps, type Survey, survey } from "./plan-steps.ts";
import { type Names, readSettings, writeSettings } from "./settings-text.ts";
import { openWrangler, publish, type Wrangler } from "./wrangler.ts";

/** Asks the user, whose first line decides; false without a terminal. */
export async function askYes(question: string, { warn, input, inputIsTerminal }: Shell): Promise<boolean> {
  if (!inputIsTerminal) return false;
  warn(`${question} [y/N] `);
  const decoder = new TextDecoder();
  let line = "";
  for await (const bytes of input()) {
    line += decoder.decode(bytes, { stream: true });
    if (line.includes("\n")) break;
  }
  return /^y(es)?\s*$/i.test(line.split("\n", 1)[0] ?? "");
}

interface DeployOptions {
  readonly name?: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly dataDir: string;
  readonly json: boolean;
}

/** Working folder: the root of the project, with `wrangler.toml`. */
interface Site {
  readonly root: string;
  readonly shell: Shell;
  readonly wrangler: Wrangler;
  /** The settings' file. */
  readonly path: string;
}

const ROOT = join(import.meta.dirname, "../../..");

/** `millrace deploy`: everything that it takes to have an edge on Cloudflare, again and again without harm. */
export function deployCommand(shell: Shell = PROCESS, root = ROOT): Command {
  return new Command("deploy")
    .description(
      "Deploy the edge to Cloudflare: database, bucket, migrations, Worker, first key, and checks afterwards",
    )
    .option(
      "--name <name>",
      "of the Worker; database and bucket are called after it (default: as wrangler.toml says)",
      parseName,
    )
    .option("--dry-run", "print the plan and try what can be tried offline; nothing is changed", false)
    .option("--yes", "do not ask", false)
    .option("--data-dir <folder>", "where the first key is kept", ".millrace")
    .option("--json", "print JSON and nothing else", false)
    .action(async (options: DeployOptions) => {
      const site = { root, shell, wrangler: openWrangler(root, shell), path: join(root, "wrangler.toml") };
      await (options.dryRun ? rehearse(options, site) : deploy(options, site));
    });
}

async function rehearse(options: DeployOptions, site: Site): Promise<void> {
  const { steps, found } = await plan(options, site);
  await build(site);
  if (options.json) site.shell.print(`${JSON.stringify({ loggedIn: found !== null, steps })}\n`);
  else site.shell.print(`${number(steps)}\n\nThe bundle was built and tried. Nothing was changed.\n`);
}

async function deploy(options: DeployOptions, site: Site): Promise<void> {
  const { shell, wrangler } = site;
  const { names, steps, found, before } = await plan(options, site);
  if (found === null) {
    throw new ProblemError(
      "unauthorized",
      "Nobody is logged in at Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.",
    );
  }
  shell.warn(`${number(steps)}\n`);
  if (!options.yes && !(await askYes("Go on?", shell))) {
    throw new ProblemError("cancelled", "Nothing was changed. Where nobody can be asked, say --yes.");
  }
  const databaseId = await ensureDatabase(names.database, found, wrangler);
  if (!found.hasBucket) await wrangler(["r2", "bucket", "create", names.bucket]);
  await writeFile(site.path, writeSettings(before, names, databaseId));
  shell.warn("Database and bucket are there; building …\n");
  await build(site);
  shell.warn("Applying migrations …\n");
  await wrangler(["d1", "migrations", "apply", "DB", "--remote"]);
  shell.warn("Deploying …\n");
  const edgeUrl = await publish(wrangler);
  await awaitEdge(edgeUrl, shell.fetch);
  const keyFile = resolve(shell.folder, options.dataDir, `${names.worker}.key`);
  const key = await ensureFirstKey(wrangler, { edgeUrl, fetch: shell.fetch, path: keyFile });
  const secret = (await readFile(keyFile, "utf8")).trim();
  const findings = await checkDeployment({ edgeUrl, key: secret, fetch: shell.fetch });
  const isWell = findings.every(({ state }) => state !== "failure");
  if (options.json) shell.print(`${JSON.stringify({ ok: isWell, edge: edgeUrl, key, keyFile, findings })}\n`);
  else {
    shell.print(`${findings.map(renderFinding).join("")}${renderVerdict(findings)}`);
    shell.print(`\nThe first key is kept in ${keyFile}. To ask this edge from here:\n\n`);
    shell.print(`  millrace context add ${names.worker} --edge ${edgeUrl} --key-file ${keyFile}\n`);
  }
  shell.exit(isWell ? 0 : 1);
}

async function plan({ name }: DeployOptions, { path, wrangler }: Site) {
  const before = await readFile(path, "utf8");
  const current = readSettings(before);
  const names: Names = name === undefined ? current : { worker: name, database: name, bucket: `${name}-artifacts` };
  const found = await survey(wrangler, names);
  const databaseId = found?.databaseId ?? null;
  const after = databaseId === null ? null : writeSettings(before, names, databaseId);
  return { names, found, before, steps: planSteps(names, found, { before, after }) };
}

async function ensureDatabase(name: string, found: Survey, wrangler: Wrangler): Promise<string> {
  if (found.databaseId !== null) return found.databaseId;
  await wrangler(["d1", "create", name]);
  const id = await findDatabase(wrangler, name);
  if (id === null) throw new Error(`The D1 database ${name} was created, but is not listed: run this again.`);
  return id;
}

/** Runs the project's own build script, which ends with wrangler's dry run of the bundle. */
async function build({ root, shell }: Site): Promise<void> {
  const end = await runApart("npm", ["run", "--silent", "build"], { cwd: root, environment: shell.env });
  if (end.code !== 0) throw new Error(`npm run build failed:\n${`${end.stdout}\n${end.stderr}`.trim().slice(-2_000)}`);
}

function number(steps: readonly string[]): string {
  return steps.map((step, index) => `${String(index + 1).padStart(2)}. ${step}`).join("\n");
}

/** As Cloudflare takes it for a Worker and, with what is added, for a bucket. */
function parseName(text: string): string {
  if (/^[a-z0-9](-?[a-z0-9])*$/.test(text) && text.length <= 53) return text;
  throw new InvalidArgumentError("must be 1 to 53 lower-case letters, digits and single hyphens.");
}
