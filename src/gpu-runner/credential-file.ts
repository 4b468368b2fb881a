import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeWhole } from "./write-whole.ts";

/** Who this runner is at its edge. */
export const StoredCredential = z.object({
  edgeUrl: z.string(),
  linkUrl: z.string(),
  runnerId: z.string(),
  credential: z.string(),
});
export type StoredCredential = z.infer<typeof StoredCredential>;

function pathOf(dataDir: string): string {
  return join(dataDir, "credential.json");
}

/** The stored credential, or null where this runner never registered. */
export async function readCredential(dataDir: string): Promise<StoredCredential | null> {
  try {
    return StoredCredential.parse(JSON.parse(await readFile(pathOf(dataDir), "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Writes the credential for its owner's eyes only, whole or not at all. */
export async function writeCredential(dataDir: string, credential: StoredCredential): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeWhole(pathOf(dataDir), `${JSON.stringify(credential, null, 2)}\n`, { mode: 0o600 });
}
