import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { LocalError } from "./data-folder.ts";

const EDGE_SOURCES = ["src/edge", "src/protocol", "src/stats", "src/telemetry", "wrangler.toml", "package-lock.json"];
const PAGE_SOURCES = ["src/dashboard", "src/words", "src/client", "src/protocol", "src/stats", "package-lock.json"];

/** Builds the page and the edge where their sources are newer than what was built. */
export async function ensureBuilt(root: string, say: (step: string) => void): Promise<void> {
  if (await isStale(root, "dist/dashboard/index.html", PAGE_SOURCES)) {
    say("Building the page");
    await runScript(root, "build:page");
  }
  if (await isStale(root, "dist/edge/worker.js", EDGE_SOURCES)) {
    say("Building the edge");
    await runScript(root, "build:edge");
  }
}

async function isStale(root: string, built: string, sources: readonly string[]): Promise<boolean> {
  const builtMs = await modifiedMs(join(root, built));
  if (builtMs === null) return true;
  for (const source of sources) if ((await newestMs(join(root, source))) > builtMs) return true;
  return false;
}

async function newestMs(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const times = await Promise.all([path, ...files].map(modifiedMs));
  return Math.max(...times.map((ms) => ms ?? 0));
}

function modifiedMs(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.mtimeMs,
    () => null,
  );
}

async function runScript(root: string, script: string): Promise<void> {
  const child = spawn("npm", ["run", "--silent", script], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new LocalError(`npm run ${script} failed:\n${output}`);
}
