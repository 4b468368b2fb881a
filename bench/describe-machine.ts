import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { promisify } from "node:util";

/** Packages whose versions a result depends on. */
const VERSIONED = ["assemblyscript", "webgpu", "@sparticuz/chromium", "onnxruntime-node", "miniflare"];

/** Context of a result: date, machine, its load, and versions. */
export async function describeMachine(): Promise<Record<string, unknown>> {
  const [project, peers] = await Promise.all(["../package.json", "package.json"].map(readDependencies));
  const versions = VERSIONED.map((name) => [name, project?.[name]]);
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()} ${arch()}`,
    loadAverage: loadavg()[0],
    commit: await readCommit(),
    versions: { node: process.version, ...Object.fromEntries(versions), ...peers },
  };
}

async function readDependencies(file: string): Promise<Record<string, string>> {
  const manifest: unknown = JSON.parse(await readFile(new URL(file, import.meta.url), "utf8"));
  return (manifest as { dependencies: Record<string, string> }).dependencies;
}

/** Null outside a clone. */
function readCommit(): Promise<string | null> {
  return promisify(execFile)("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}
