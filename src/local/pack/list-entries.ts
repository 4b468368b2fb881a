import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SOFTWARE_GPU } from "../../gpu-runner/devices/gpu/software-gpu.ts";
import { locateAssembly } from "../../gpu-runner/devices/cpu-simd/load-assembly.ts";
import { CPU_ROLLOUTS, locateCpuProgram } from "../../gpu-runner/environments/load-cpu-program.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { LocalError } from "../data-folder.ts";
import { fetchPackage, type Platform, PLATFORMS } from "./node-package.ts";
import { pathBelow, traceFiles } from "./trace-files.ts";
import type { Entry } from "./write-tar.ts";

/** What to pack a runner of. */
export interface Recipe {
  readonly platform: Platform;
  readonly root: string;
  /** Folder of Node's release. */
  readonly nodeFolder: string;
  readonly withSoftwareGpu: boolean;
}

const ENTRY = "src/cli/packed-main.ts";
/** The only folder in the archive. */
const TOP = "millrace-runner";
/** Builtins of a POSIX shell alone, but for a call through a link, since a robot's path may be empty. */
const LAUNCHER = `#!/bin/sh
# Starts the packed runner with the Node beside it.
self=$0
if [ -h "$self" ]; then self=$(readlink -f "$self"); fi
case $self in */*) here=\${self%/*} ;; *) here=. ;; esac
exec "$here/bin/node" "$here/${ENTRY}" "$@"
`;

/**
 * The files of a packed runner. It keeps the layout of a checkout, so that programs, threads and shaders find each
 * other as they do there, and has of it what the command line reaches.
 */
export async function listEntries({ platform, root, nodeFolder, withSoftwareGpu }: Recipe): Promise<readonly Entry[]> {
  const { files, packages } = await traceFiles([join(root, ENTRY)]);
  const natives = (await Promise.all([...packages].map((folder) => listNatives(root, folder, platform)))).flat();
  const own = [...files, ...(await listKernels(root)), ...(await listPrograms(root)), ...(await listModels(root))];
  if (withSoftwareGpu) own.push(fileURLToPath(SOFTWARE_GPU));
  for (const name of ["LICENSE", "THIRD_PARTY.md", "docs/operations.md"]) own.push(join(root, name));
  const facts = { release: VERSION, commit: await readCommit(root), platform, softwareGpu: withSoftwareGpu };
  const text = (value: object) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  const entries: Entry[] = [
    { path: "millrace-runner", content: Buffer.from(LAUNCHER), isProgram: true },
    { path: "bin/node", content: join(nodeFolder, "bin/node"), isProgram: true },
    { path: "bin/LICENSE", content: join(nodeFolder, "LICENSE") },
    { path: "packed.json", content: text(facts) },
    { path: "package.json", content: text({ name: TOP, version: VERSION, private: true, type: "module" }) },
    ...natives,
    ...[...new Set(own)].map((file) => ({ path: pathBelow(root, file), content: file })),
  ];
  return entries.map((entry) => ({ ...entry, path: `${TOP}/${entry.path}` }));
}

/**
 * A package's binaries of a system, which it opens by a path that it computes. The installation leaves out those of
 * others: then npm's copy of the package has them.
 */
async function listNatives(root: string, folder: string, platform: Platform): Promise<Entry[]> {
  const place = pathBelow(root, folder);
  const [installed, elsewhere] = await Promise.all([
    listOf(folder, [platform]),
    listOf(folder, Object.keys(PLATFORMS) as Platform[]),
  ]);
  if (installed.length > 0 || elsewhere.length === 0) {
    return installed.map((path) => ({ path: `${place}/${path}`, content: join(folder, path) }));
  }
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  const whole = await fetchPackage(`${name}@${version}`, join(root, "dist/npm"));
  const fetched = await listOf(whole, [platform]);
  if (fetched.length === 0) throw new LocalError(`${name} has no binaries for ${platform}.`);
  return fetched.map((path) => ({ path: `${place}/${path}`, content: join(whole, path) }));
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Paths below a package's folder of binaries of systems, by the folders' names. */
async function listOf(folder: string, platforms: readonly Platform[]): Promise<string[]> {
  const marks = platforms.flatMap((platform) => {
    const [system] = platform.split("-");
    return [platform, platform.replace("-", "/"), `${system}-universal`].map((mark) => `/${mark}/`);
  });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => pathBelow(folder, join(entry.parentPath, entry.name)))
    .filter((path) => marks.some((mark) => path.includes(mark)));
}

/** All kernels but their tests: they are read by computed names, and a digest of each one's folder is announced. */
async function listKernels(root: string): Promise<string[]> {
  const entries = await readdir(join(root, "kernels"), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/^tsconfig\.json$|\.md$|\.test\.ts$|\.vectors\.json$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Compiled programs of the CPU, made where they are absent: a packed runner has no compiler. */
async function listPrograms(root: string): Promise<string[]> {
  for (const program of ["devices/cpu-simd/build.ts", "environments/build-cpu-program.ts"]) {
    await promisify(execFile)(process.execPath, [join(root, "src/gpu-runner", program)]);
  }
  const rollouts = CPU_ROLLOUTS.map(({ environment, kind }) => locateCpuProgram(environment, kind));
  const located = await Promise.all([locateAssembly("mlp-population"), ...rollouts]);
  return located.map(({ binary }) => fileURLToPath(binary));
}

/** Networks with their data and cards: those that `device-suite` and `zoo` measure are among them. */
async function listModels(root: string): Promise<string[]> {
  const entries = await readdir(join(root, "models"), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.onnx$|\.safetensors$|^card\.json$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Null outside a clone, and where the sources are not those of the commit. */
async function readCommit(root: string): Promise<string | null> {
  if (!existsSync(join(root, ".git"))) return null;
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: root })).stdout.trim();
  const isClean = (await git("status", "--porcelain").catch(() => "unknown")) === "";
  return isClean ? git("rev-parse", "HEAD") : null;
}
