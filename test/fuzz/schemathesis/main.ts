import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installPython } from "../../../bench/python-program.ts";
import { ensureBuilt } from "../../../src/local/build.ts";
import { createBootstrapSecret } from "../../../src/local/data-folder.ts";
import { startEdge } from "../../../src/local/edge-host.ts";

const ROOT = join(import.meta.dirname, "../../..");
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const CONFIG = fileURLToPath(new URL("schemathesis.toml", import.meta.url));
/** Duration; it finishes what it began, which adds some seconds. */
const MOST_SECONDS = 30;
/**
 * Operations that it cannot try: sockets, streams without an end, routes of runners, lines of JSON, which it cannot
 * write, pings of hosts elsewhere, and the Open Inference Protocol's inference, whose schema its generator sometimes
 * gives up on. The fuzzer beside it tries them all.
 */
const LEFT_OUT = String.raw`/link|/artifacts/\{digest|/events|/live$|/stream|/ping$|/tables/|^/v2/.*/infer$`;
const CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Installs Schemathesis outside of the repository, once, and lets it try an edge by its own document. */
async function main(): Promise<number> {
  const requirements = await readFile(REQUIREMENTS);
  const name = `millrace-schemathesis-${createHash("sha256").update(requirements).digest("hex").slice(0, 16)}`;
  const folder = pathToFileURL(join(tmpdir(), name));
  const ready = "bin/schemathesis";
  try {
    await installPython({ folder, requirements: REQUIREMENTS, ready }, () => say("installing Schemathesis (once)"));
  } catch (error) {
    say(`NOT RUN: Schemathesis needs python3 with venv and a package index. ${(error as Error).message}.`);
    return 0;
  }
  await ensureBuilt(ROOT, say);
  return tryEdge(join(fileURLToPath(folder), ready));
}

async function tryEdge(program: string): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-schemathesis-data-"));
  const bootstrapSecret = createBootstrapSecret();
  const edge = await startEdge({ port: 0, dataDir, root: ROOT, bootstrapSecret });
  try {
    const options = {
      header: `Authorization: Bearer ${bootstrapSecret}`,
      phases: "examples,coverage,fuzzing",
      "max-examples": "5",
      "max-time": String(MOST_SECONDS),
      workers: "2",
      checks: CHECKS,
      "exclude-path-regex": LEFT_OUT,
      warnings: "off",
      "suppress-health-check": "all",
    };
    const flags = ["--generation-deterministic", "--continue-on-failure", "--no-color"];
    const told = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const args = ["--config-file", CONFIG, "run", `${edge.url}/openapi.json`, ...told, ...flags];
    const child = spawn(program, args, { cwd: dataDir, stdio: ["ignore", "pipe", "inherit"] });
    const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
    process.stdout.write(output);
    return judge(output, child.exitCode);
  } finally {
    await edge.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Its generators give up on a schema now and then, on a busy machine above all: that is no failure of the edge. */
function judge(output: string, exitCode: number | null): number {
  if (exitCode === 0) return 0;
  const isTried = /^Test cases:$/m.test(output);
  if (!isTried || /^Failures:$/m.test(output)) return 1;
  say("Schemathesis met errors of its own; no reply of the edge failed.");
  return 0;
}

process.exit(await main());
