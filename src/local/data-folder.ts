import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** An error that a person can mend, as one sentence. */
export class LocalError extends Error {
  override readonly name = "LocalError";
}

/** Takes the folder for this process: state on disk belongs to one process. Gives the way to let it go. */
export async function lockDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const lock = join(dataDir, "lock");
  try {
    await mkdir(dataDir, { recursive: true });
    const owner = Number(await readFile(lock, "utf8").catch(() => ""));
    if (owner > 0 && owner !== process.pid && isAlive(owner)) {
      throw new LocalError(
        `Another millrace (process ${owner}) uses ${dataDir}: stop it, or name another folder with --data-dir.`,
      );
    }
    await writeFile(lock, String(process.pid));
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError(
      `${dataDir} cannot be written: ${(error as Error).message}. Name another folder with --data-dir.`,
    );
  }
  return () => rm(lock, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

export function adminKeyPath(dataDir: string): string {
  return join(dataDir, "admin.key");
}

/** The admin key of an earlier start, or null. */
export async function readAdminKey(dataDir: string): Promise<string | null> {
  const text = await readFile(adminKeyPath(dataDir), "utf8").catch(() => "");
  return text.trim() || null;
}

/** Keeps the admin key for its owner's eyes only. */
export async function writeAdminKey(dataDir: string, secret: string): Promise<void> {
  await writeFile(adminKeyPath(dataDir), `${secret}\n`, { mode: 0o600 });
}

/** An admin secret that ends with this process; the edge takes it to make the first real key. */
export function createBootstrapSecret(): string {
  return randomBytes(32).toString("base64url");
}
