import { cp, readFile, symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Finished, root, run } from "./run-npm.ts";

/** What a checkout does not have: what was installed, built or left by runs. */
const MADE = new Set(["node_modules", "dist", ".git", ".millrace", ".tsbuild", ".wrangler", "test-results"]);

/** The `sh` blocks of a document, in order; what needs an account or another machine stands in `console` blocks. */
export async function readBlocks(path: string): Promise<string[]> {
  const text = await readFile(join(root, path), "utf8");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? "");
}

/** Runs blocks in one shell, as they stand, each after the other; the first line that fails ends it. */
export function runBlocks(
  blocks: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<Finished> {
  const program = [`cd "${folder}"`, ...blocks].join("\necho\n");
  return run("bash", ["-euo", "pipefail", "-c", program], environment);
}

/** A copy of the project as somebody has it who just got it, but for the packages, which are there already. */
export async function copyProject(folder: string): Promise<void> {
  const isOurs = (path: string) =>
    !relative(root, path)
      .split("/")
      .some((part) => MADE.has(part));
  // A lockfile that looks newer than the packages would have them installed again.
  await cp(root, folder, { recursive: true, preserveTimestamps: true, filter: isOurs });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
}
