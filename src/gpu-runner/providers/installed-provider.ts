import { mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";

const RUNTIME = "libonnxruntime.so.1";
const RECORD = "installed.json";

/** What was installed, as its folder tells. */
export const InstalledProvider = z.object({
  /** Version of ONNX Runtime, which has to be that of the binding. */
  ort: z.string(),
  /** Major version of CUDA that it was built for. */
  cuda: z.number().int(),
  /** SHA-256 of each file, in hex. */
  files: z.record(z.string(), z.string()),
  /** Shared libraries that the machine must have. */
  libraries: z.array(z.string()),
  /** File, folder or address that it came from. */
  from: z.string(),
});
export type InstalledProvider = z.infer<typeof InstalledProvider>;

/** Folder of a provider's libraries in a runner's folder. */
export function folderOf(dataDir: string, backend: OrtGpuBackend): string {
  return join(dataDir, "providers", backend);
}

/**
 * What is installed for a backend, and where; or that nothing is. Fails with `backend-failed` where it is not for this
 * runtime, or its record cannot be read.
 */
export async function findInstalled(
  dataDir: string,
  backend: OrtGpuBackend,
): Promise<(InstalledProvider & { readonly folder: string }) | string> {
  const folder = folderOf(dataDir, backend);
  const command = `millrace runner providers install ${backend.slice("ort-".length)} --data-dir ${dataDir}`;
  const refuse = (detail: string): never => {
    throw new ProblemError("backend-failed", detail);
  };
  const path = join(folder, RECORD);
  const record = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? null : refuse(`${path} cannot be read: ${error.message}`),
  );
  if (record === null) return `its libraries are not installed: \`${command}\``;
  const installed = InstalledProvider.safeParse(parseJson(record));
  if (!installed.success) return refuse(`${path} cannot be read: \`${command}\` writes it anew`);
  const { version } = await locateBinding();
  if (installed.data.ort !== version) {
    return refuse(`its libraries are of ONNX Runtime ${installed.data.ort}, and this is ${version}: \`${command}\``);
  }
  return { ...installed.data, folder };
}

export function writeInstalled(folder: string, installed: InstalledProvider): Promise<void> {
  return writeFile(join(folder, RECORD), `${JSON.stringify(installed, null, 2)}\n`);
}

/**
 * Puts the binding's runtime beside a provider's libraries, by a link that follows where the packages are now. A process
 * whose loader finds the runtime here looks here for providers, too: `dladdr` names the path by which it was loaded.
 * With `target`, all of them are linked into that folder, and the provider's own stays untouched.
 */
export async function linkRuntime(folder: string, files: readonly string[], target = folder): Promise<void> {
  const { runtime } = await locateBinding();
  await mkdir(target, { recursive: true });
  await placeLink(runtime, join(target, RUNTIME));
  if (target === folder) return;
  for (const name of files) await placeLink(join(folder, name), join(target, basename(name)));
}

async function placeLink(to: string, link: string): Promise<void> {
  if ((await readlink(link).catch(() => null)) === to) return;
  await rm(link, { force: true });
  await symlink(to, link).catch((error: NodeJS.ErrnoException) => {
    // Another runner with this folder was first.
    if (error.code !== "EEXIST") throw error;
  });
}

/** ONNX Runtime as npm installed it: its version, and the path of its library on Linux. */
export async function locateBinding(): Promise<{ readonly version: string; readonly runtime: string }> {
  const root = dirname(dirname(createRequire(import.meta.url).resolve("onnxruntime-node")));
  const { version } = z
    .object({ version: z.string() })
    .parse(parseJson(await readFile(join(root, "package.json"), "utf8")));
  return { version, runtime: join(root, "bin/napi-v6", process.platform, process.arch, RUNTIME) };
}
