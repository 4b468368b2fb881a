// Plain JavaScript that any Node from 20 on runs: what comes before the project's own Node 24 is there.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const OLDEST_NODE = [20, 11];

/** Ends with one sentence, for what a person can mend. */
export function fail(sentence) {
  process.stderr.write(`millrace: ${sentence}\n`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  if (isOld) fail(`Node ${process.versions.node} is too old: install Node ${OLDEST_NODE.join(".")} or newer.`);
}

/** npm notes in node_modules what it installed last; a newer lockfile means that something is missing. */
function isInstalled() {
  const noted = join(root, "node_modules/.package-lock.json");
  const lock = join(root, "package-lock.json");
  return existsSync(noted) && statSync(noted).mtimeMs >= statSync(lock).mtimeMs;
}

/** Installs what is missing, by the lockfile. npm's output goes to stderr: stdout is for results. */
export function ensureInstalled() {
  checkNode();
  if (isInstalled()) return;
  process.stderr.write("Installing packages (once; about a minute) …\n");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const stdio = ["ignore", process.stderr, process.stderr];
  const done =
    npm === undefined
      ? spawnSync("npm", args, { cwd: root, stdio })
      : spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio });
  if (done.status !== 0) fail("npm ci failed: see its message above.");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) ensureInstalled();
