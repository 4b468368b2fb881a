/** `node build.ts`: compiles the AssemblyScript sources of this folder whose WebAssembly is absent. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { compileAssembly } from "./compile-assembly.ts";
import { type Assembly, locateAssembly } from "./load-assembly.ts";

const FOLDER = new URL("assembly/", import.meta.url);

for (const file of await readdir(FOLDER)) {
  if (file.endsWith(".ts")) await build(await locateAssembly(basename(file, ".ts")));
}

/** Completely or not at all, even in two processes at once: the file appears by renaming. */
async function build({ source, binary }: Assembly): Promise<void> {
  if (await exists(binary)) return;
  const config: unknown = JSON.parse(await readFile(new URL("asconfig.json", FOLDER), "utf8"));
  const program = await compileAssembly(source, (config as { options: Record<string, unknown> }).options);
  const draft = new URL(`${binary.href}.${process.pid}`);
  await mkdir(new URL(".", binary), { recursive: true });
  try {
    await writeFile(draft, program);
    await rename(draft, binary);
  } finally {
    await rm(draft, { force: true });
  }
}

function exists(file: URL): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
