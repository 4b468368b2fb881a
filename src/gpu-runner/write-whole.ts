import { rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes a file whole or not at all: a draft beside it, `<path>.<process>.<random>`, takes its name once it is
 * complete. Where that fails the draft goes, what was there stays, and the error is the caller's. `write` stands
 * in for the file system in tests.
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode, write = writeFile }: { readonly mode?: number; readonly write?: typeof writeFile } = {},
): Promise<void> {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    await write(draft, content, { mode });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
