import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** AssemblyScript source of this folder, and the location of its WebAssembly. */
export interface Assembly {
  readonly source: URL;
  readonly binary: URL;
  /** Digest of the binary's inputs, in hex. */
  readonly digest: string;
}

const SOURCES = new URL("assembly/", import.meta.url);
/** Folder of compiled programs. */
export const BUILT = new URL("../../../../dist/cpu-simd/", import.meta.url);
const OPTIONS = new URL("asconfig.json", SOURCES);

/** Locates `assembly/<name>.ts`. The binary's name holds a digest of its inputs, so none is ever stale. */
export async function locateAssembly(name: string): Promise<Assembly> {
  const source = new URL(`${name}.ts`, SOURCES);
  const digest = await digestAssembly(source, OPTIONS);
  return { source, binary: new URL(`${name}-${digest.slice(0, 16)}.wasm`, BUILT), digest };
}

/** Digest, in hex, of an AssemblyScript program's inputs: compiler, options and source. */
export async function digestAssembly(source: URL, options: URL): Promise<string> {
  return digestText(await readFile(source), options);
}

/** Digest for a composed source. */
export async function digestText(source: string | Uint8Array, options: URL): Promise<string> {
  const hash = createHash("sha256").update(await readCompilerVersion());
  for (const part of [await readFile(options), source]) hash.update("\0").update(part);
  return hash.digest("hex");
}

async function readCompilerVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(new URL(import.meta.resolve("assemblyscript/package.json")), "utf8"),
  );
  return (manifest as { version: string }).version;
}

const BUILD = fileURLToPath(new URL("build.ts", import.meta.url));

/**
 * Compiled program of `assembly/<name>.ts`: from `npm run build`, otherwise compiled now in a process of its own, which
 * takes seconds. Throws with the compiler's messages.
 */
export async function loadAssembly(name: string): Promise<WebAssembly.Module> {
  const { binary } = await locateAssembly(name);
  const read = () => readFile(binary);
  const bytes = await read().catch(async () => {
    await promisify(execFile)(process.execPath, [BUILD]);
    return read();
  });
  return WebAssembly.compile(bytes);
}
