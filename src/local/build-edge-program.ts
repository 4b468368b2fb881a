/** `node build-edge-program.ts`: compiles the AssemblyScript that the Worker takes in, where it is not there as it stands. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { compileAssembly } from "../gpu-runner/devices/cpu-simd/compile-assembly.ts";
import { digestAssembly } from "../gpu-runner/devices/cpu-simd/load-assembly.ts";

const SOURCE = new URL("../edge/inference/wasm/assembly/dense-network.ts", import.meta.url);
const OPTIONS = new URL("asconfig.json", SOURCE);
/** The Worker names the program by its path, so its digest stands in a file beside it. */
const PROGRAM = new URL("../../dist/edge-simd/dense-network.wasm", import.meta.url);
const DIGEST = new URL("dense-network.digest", PROGRAM);

const digest = await digestAssembly(SOURCE, OPTIONS);
const built = await readFile(DIGEST, "utf8").catch(() => "");
if (built !== digest) {
  const config: unknown = JSON.parse(await readFile(OPTIONS, "utf8"));
  const program = await compileAssembly(SOURCE, (config as { options: Record<string, unknown> }).options);
  await mkdir(new URL(".", PROGRAM), { recursive: true });
  await writeWhole(PROGRAM, program);
  await writeWhole(DIGEST, digest);
}

/** Whole or not at all, also when two processes do it at once: the file appears by renaming. */
async function writeWhole(file: URL, content: Uint8Array | string): Promise<void> {
  const draft = new URL(`${file.href}.${process.pid}`);
  try {
    await writeFile(draft, content);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
