import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const LOCK = new URL(".installing", import.meta.url);
const MODULES = new URL("node_modules", import.meta.url);
const LOCKFILE = new URL("package-lock.json", import.meta.url);
/** npm's record of its last installation here. */
const NOTED = new URL("node_modules/.package-lock.json", import.meta.url);
const RETRY_MS = 500;

/**
 * Installs the peers by their lockfile, once; a second process waits meanwhile. A failure is only logged: the benches
 * report every missing peer. Nothing is installed through a link, since npm would first empty a folder that another
 * checkout uses.
 */
export async function installPeers(say: (text: string) => void): Promise<void> {
  if (await isInstalled()) return;
  const modules = await lstat(MODULES).catch(() => null);
  if (modules?.isSymbolicLink() === true) {
    say("bench/node_modules is a link, so the peers are not installed through it: install them where it leads");
    return;
  }
  const release = await acquireLock(say);
  try {
    if (await isInstalled()) return;
    say("installing the peers (once)");
    const output = await runNpm(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    if (output !== null) say(`npm ci failed in bench/, so peers may be missing: ${output.split("\n", 1)[0]}`);
  } finally {
    await release();
  }
}

async function isInstalled(): Promise<boolean> {
  const [noted, lockfile] = await Promise.all([NOTED, LOCKFILE].map((file) => stat(file).catch(() => null)));
  return noted != null && lockfile != null && noted.mtimeMs >= lockfile.mtimeMs;
}

/** The lock is a file with its owner's process id; one whose owner has gone is taken over. */
async function acquireLock(say: (text: string) => void): Promise<() => Promise<void>> {
  for (let tries = 0; ; tries++) {
    try {
      const file = await open(LOCK, "wx");
      await file.writeFile(String(process.pid));
      await file.close();
      return () => rm(LOCK, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (tries === 0) say("waiting for another process to install the peers");
    await delay(RETRY_MS);
    const owner = Number(await readFile(LOCK, "utf8").catch(() => ""));
    if (owner > 0 && !isAlive(owner)) await rm(LOCK, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Null on success, else npm's output; the npm that runs us is preferred to one on the path. */
async function runNpm(args: readonly string[]): Promise<string | null> {
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const child = spawn(command, [...first, ...args], { cwd: FOLDER, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code === 0 ? null : output.trim() || `code ${code}`;
  } catch (error) {
    return (error as Error).message;
  }
}
