import { copyFile, stat, truncate } from "node:fs/promises";

/**
 * Moves a log that has grown beyond `maxBytes` to `<path>.1`, in place of the one before. Whoever has it open for
 * appending goes on writing to it from its start; what comes in the moment between is lost.
 */
export async function rotateLog(path: string, maxBytes: number): Promise<boolean> {
  if ((await stat(path)).size <= maxBytes) return false;
  await copyFile(path, `${path}.1`);
  await truncate(path);
  return true;
}
