import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, symlink, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Finished, root } from "../run-npm.ts";

/** What a checkout does not have: what was installed or left by runs. */
const MADE = new Set(["node_modules", ".git", ".millrace", ".tsbuild", ".wrangler", ".venv", "test-results"]);

/** The `sh` blocks of a document, in order; what needs an account or another machine stands in `console` blocks. */
export async function readBlocks(path: string): Promise<string[]> {
  const text = await readFile(join(root, path), "utf8");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? "");
}

/** How long the blocks of a document may take, each with its own jobs, on a machine that does something else, too. */
export const RUNS_WITHIN_MS = 900_000;
/** For a test around it, which then sees how far it came. */
export const TESTED_WITHIN_MS = RUNS_WITHIN_MS + 30_000;

/**
 * Runs blocks in one shell, as they stand, each after the other; the first line that fails ends it. Nothing that they
 * started is left behind, also where one of their loops never ends.
 */
export async function runBlocks(
  blocks: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<Finished> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", blocks.join("\necho\n")], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const endAll = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  const timer = setTimeout(endAll, RUNS_WITHIN_MS);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  // What runs in the background holds the pipes: it has to end for them to close.
  child.once("exit", endAll);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** Files whose age shows whether the page and the edge were built since their sources changed. */
const BUILT = ["dist/dashboard/index.html", "dist/edge/worker.js"];

/** A copy of the project as a newcomer has it, but with its packages, the page and the edge in place already. */
export async function copyProject(folder: string): Promise<void> {
  const isOurs = (path: string) =>
    !relative(root, path)
      .split("/")
      .some((part) => MADE.has(part));
  // A lockfile that looks newer than the packages would have them installed again.
  await cp(root, folder, { recursive: true, preserveTimestamps: true, filter: isOurs });
  // The folders of the copy are new, so it would build again.
  for (const built of BUILT) await utimes(join(folder, built), new Date(), new Date());
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
}
