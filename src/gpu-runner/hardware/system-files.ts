import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** What a file of `/sys` or `/proc` says, trimmed; null where there is none, or nobody may read it. */
export async function readText(...parts: readonly string[]): Promise<string | null> {
  return readFile(path.join(...parts), "utf8").then(
    (text) => text.trim(),
    () => null,
  );
}

/** The number that a file of `/sys` holds; null where it holds none. */
export async function readNumber(...parts: readonly string[]): Promise<number | null> {
  const text = await readText(...parts);
  const value = Number(text);
  return text === null || text === "" || !Number.isFinite(value) ? null : value;
}

/** Paths in a folder whose names fit, in the order of the numbers in them; empty where there is no such folder. */
export async function listEntries(pattern: RegExp, ...parts: readonly string[]): Promise<string[]> {
  const folder = path.join(...parts);
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => pattern.test(name))
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => path.join(folder, name));
}
