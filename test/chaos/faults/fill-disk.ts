import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { between } from "../between.ts";

const run = promisify(execFile);

/** True if a running process's limits can be set here: util-linux has the program, other systems do not. */
export async function canFillDisk(): Promise<boolean> {
  return run("prlimit", ["--pid", String(process.pid), "--fsize"]).then(
    () => true,
    () => false,
  );
}

/**
 * Makes the disk full for every process of a part meanwhile. At the end all current processes get room again: new ones
 * have inherited the limit from their parents.
 */
export function whileDiskIsFull(part: { pids(): Promise<number[]> }, meanwhile: () => Promise<void>): Promise<void> {
  return between(
    async () => setFull(await part.pids(), true),
    meanwhile,
    async () => setFull(await part.pids(), false),
  );
}

/** Lets no file of these processes grow, or take a byte anew; or lets them again. */
async function setFull(pids: readonly number[], isFull: boolean): Promise<void> {
  const limit = `--fsize=${isFull ? 0 : "unlimited"}:unlimited`;
  // One that has ended meanwhile needs none.
  await Promise.all(pids.map((pid) => run("prlimit", ["--pid", String(pid), limit]).catch(() => undefined)));
}
