import { readdir, readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { EdgeModule } from "../../src/local/edge-host.ts";

/** Sources of the faulty edge beside the built one. */
const SOURCES = [
  "test/chaos/faulty/faulty-edge.ts",
  "test/chaos/faulty/fault-control.ts",
  "test/chaos/faulty/faulty-env.ts",
  "test/chaos/faulty/shift-platform.ts",
  "test/chaos/faulty/shifted-clock.ts",
  "test/chaos/faulty/trouble.ts",
  "src/stats/random/seeded.ts",
];
/** The source that the faulty edge imports: the built edge stands in its place. */
const WORKER = "src/edge/worker.ts";

/** The files of the faulty edge, around the Worker as it was built. */
export async function listFaultyModules(root: string): Promise<EdgeModule[]> {
  const built = join(root, "dist/edge");
  const sources = SOURCES.map(async (path): Promise<EdgeModule> => {
    const contents = stripTypeScriptTypes(await readFile(join(root, path), "utf8"));
    return { type: "ESModule", path: join(root, path), contents };
  });
  const worker = {
    type: "ESModule",
    path: join(root, WORKER),
    contents: await readFile(join(built, "worker.js"), "utf8"),
  };
  const programs = (await readdir(built)).filter((file) => file.endsWith(".wasm"));
  const wasm = programs.map(async (file): Promise<EdgeModule> => {
    const contents = new Uint8Array(await readFile(join(built, file)));
    return { type: "CompiledWasm", path: join(root, "src/edge", file), contents };
  });
  return [...(await Promise.all(sources)), worker as EdgeModule, ...(await Promise.all(wasm))];
}
