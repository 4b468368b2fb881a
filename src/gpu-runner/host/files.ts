import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Fingerprint, fingerprintText } from "../../protocol/fleet/hardware.ts";

/** SHA-256 of a fingerprint in hex, which identifies a kind of device in this runner's files. */
export function digestFingerprint(fingerprint: Fingerprint): string {
  return createHash("sha256").update(fingerprintText(fingerprint)).digest("hex");
}

/** Trimmed content of a file in `/sys` or `/proc`; null where it is absent or unreadable. */
export async function readText(...parts: readonly string[]): Promise<string | null> {
  return readFile(path.join(...parts), "utf8").then(
    (text) => text.trim(),
    () => null,
  );
}

/** Number in a file of `/sys`; null where it holds none. */
export async function readNumber(...parts: readonly string[]): Promise<number | null> {
  const text = await readText(...parts);
  const value = Number(text);
  return text === null || text === "" || !Number.isFinite(value) ? null : value;
}

/** Paths in a folder with matching names, in the order of the numbers in them; empty where there is no such folder. */
export async function listEntries(pattern: RegExp, ...parts: readonly string[]): Promise<string[]> {
  const folder = path.join(...parts);
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => pattern.test(name))
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => path.join(folder, name));
}

/** Whether bytes have a digest (`sha256:` and 64 hex digits). */
export function hasDigest(bytes: Uint8Array, digest: string): boolean {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}` === digest;
}

/** The same of a file, which is read piece by piece. */
export async function hasFileDigest(file: string, digest: string): Promise<boolean> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return `sha256:${hash.digest("hex")}` === digest;
}

/**
 * Writes a file completely or not at all: a draft beside it, `<file>.<process>.<random>`, takes its name once complete.
 * On failure the draft is removed, the old file stays, and the error is thrown. `write` replaces the file system in
 * tests.
 */
export async function writeWhole(
  file: string,
  content: string | Uint8Array,
  { mode, write = writeFile }: { readonly mode?: number; readonly write?: typeof writeFile } = {},
): Promise<void> {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    await write(draft, content, { mode });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
