// Plain JavaScript that any Node from 20 on runs: what comes before the project's own Node 24 is there.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BROWSER, listUnused, removePackageFiles } from "./trim-packages.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
/** @type {readonly [number, number]} */
const OLDEST_NODE = [20, 11];

/** Ends with one sentence, for what a person can mend. @param {string} sentence @returns {never} */
function fail(sentence) {
  process.stderr.write(`millrace: ${sentence}\n`);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  if (isOld) fail(`Node ${process.versions.node} is too old: install Node ${OLDEST_NODE.join(".")} or newer.`);
}

const modules = join(root, "node_modules");
/** npm notes there what it installed last. */
const noted = join(modules, ".package-lock.json");
const browser = join(modules, BROWSER.package, BROWSER.file);

/** A newer lockfile means that something is missing; the browser's package is, where adding development failed. */
function isStale() {
  if (!existsSync(join(modules, BROWSER.package))) return true;
  return !existsSync(noted) || statSync(noted).mtimeMs < statSync(join(root, "package-lock.json")).mtimeMs;
}

/** Whether packages for development are among them. */
function holdsDevelopment() {
  if (!existsSync(noted)) return false;
  const { packages } = JSON.parse(readFileSync(noted, "utf8"));
  return Object.values(packages).some(({ dev }) => dev);
}

/** npm's output goes to stderr: stdout is for results. @param {string[]} args */
function runNpm(...args) {
  process.stderr.write("Installing packages (once; about a minute) …\n");
  const npm = process.env.npm_execpath;
  const all = [...args, "--no-audit", "--no-fund", "--loglevel=error"];
  /** @type {import("node:child_process").StdioOptions} */
  const stdio = ["ignore", process.stderr, process.stderr];
  const done =
    npm === undefined
      ? spawnSync("npm", all, { cwd: root, stdio })
      : spawnSync(process.execPath, [npm, ...all], { cwd: root, stdio });
  if (done.error !== undefined) fail(`npm cannot be started: ${done.error.message}.`);
  if (done.status !== 0) fail(`npm ${args[0]} failed: see its message above.`);
}

/** Adds development to what is there, so that a millrace that runs from the folder goes on. */
function addDevelopment() {
  if (lstatSync(modules).isSymbolicLink()) {
    fail("node_modules is a link: install what development needs in the checkout that it leads to, by npm test.");
  }
  // npm takes a package that is there for whole.
  if (!existsSync(browser)) rmSync(join(modules, BROWSER.package), { recursive: true, force: true });
  runNpm("install", "--include=dev", "--no-save");
}

/** Removes what nothing uses here. A folder of packages that is a link belongs to another checkout. */
function trim() {
  if (process.env.MILLRACE_KEEP_ALL === "1" || lstatSync(modules).isSymbolicLink()) return;
  const removedBytes = removePackageFiles(realpathSync(modules), listUnused(process, holdsDevelopment()));
  if (removedBytes === 0) return;
  const removed = `${Math.round(removedBytes / 2 ** 20)} MB`;
  process.stderr.write(`Removed ${removed} of packages that nothing uses here; MILLRACE_KEEP_ALL=1 keeps it all.\n`);
}

/**
 * Installs what is missing, by the lockfile, and removes what nothing uses on this system.
 * @param {"running" | "developing"} purpose what running needs is a part of what developing needs
 */
export function ensureInstalled(purpose) {
  checkNode();
  const developed = holdsDevelopment();
  if (isStale()) runNpm("ci", purpose === "developing" || developed ? "--include=dev" : "--omit=dev");
  else if (purpose === "developing" && !(developed && existsSync(browser))) addDevelopment();
  trim();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const purpose = process.argv[2] ?? "developing";
  if (purpose === "running" || purpose === "developing") ensureInstalled(purpose);
  else fail(`"${purpose}" must be "running" or "developing".`);
}
