/** `node build.ts`: compiles the AssemblyScript sources of this folder whose WebAssembly is not there. */
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { main as compile, type MemoryStream } from "assemblyscript/asc";
import { type Assembly, locateAssembly } from "./locate-assembly.ts";

const FOLDER = fileURLToPath(new URL("assembly", import.meta.url));

for (const file of await readdir(FOLDER)) {
  if (file.endsWith(".ts")) await build(await locateAssembly(basename(file, ".ts")));
}

/** Whole or not at all, also when two processes do it at once: the file appears by renaming. */
async function build({ source, binary }: Assembly): Promise<void> {
  if (await exists(binary)) return;
  const draft = fileURLToPath(new URL(`${binary.href}.${process.pid}`));
  await mkdir(new URL(".", binary), { recursive: true });
  try {
    const [name, out] = [basename(source.pathname), "program.wasm"];
    const { error, stderr } = await compile(
      [name, "--config", "asconfig.json", "--baseDir", FOLDER, "--outFile", out],
      {
        writeFile: (_, contents) => writeFile(draft, contents),
      },
    );
    if (error !== null) throw new Error(`${name} does not compile: ${(stderr as MemoryStream).toString()}`);
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
