import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { locateAssembly } from "./locate-assembly.ts";

const BUILD = fileURLToPath(new URL("build.ts", import.meta.url));

/**
 * The compiled program of `assembly/<name>.ts`: what `npm run build` left, else made now, which takes seconds of
 * a process of its own. Throws with what the compiler says.
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
