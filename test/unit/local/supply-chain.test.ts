import { execFile } from "node:child_process";
import { copyFile, glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readLockfile } from "../../../src/local/supply/lockfile.ts";

/** Installed packages are the reviewed ones: exact versions, digests, and no install script without permission. */

const root = join(import.meta.dirname, "../../..");
const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  allowScripts: z.record(z.string(), z.boolean()).default({}),
});
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

async function readManifest(folder: string) {
  return Manifest.parse(JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")));
}

describe.each([".", "bench", "test/runtimes"])("the packages of %s", (folder) => {
  it("are named by exact versions", async () => {
    const { dependencies, devDependencies } = await readManifest(folder);
    const named = Object.entries({ ...dependencies, ...devDependencies });
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(([, version]) => !EXACT.test(version))).toEqual([]);
  });

  it("are locked to a version of the registry and the digest of its file", async () => {
    const { packages } = await readLockfile(join(root, folder, "package-lock.json"));
    expect(packages.length).toBeGreaterThan(0);
    // Without `resolved`, npm asks the registry for name and version.
    const isSound = ({ version, integrity, resolved, link }: (typeof packages)[number]) =>
      !link &&
      EXACT.test(version) &&
      /^sha512-[0-9A-Za-z+/]{86}==$/.test(integrity ?? "") &&
      (resolved === undefined || /^https:\/\/registry\.npmjs\.org\/[^?#]+\.tgz$/.test(resolved));
    expect(packages.filter((locked) => !isSound(locked))).toEqual([]);
  });

  it("are all in the lockfile, those of other systems too, so that npm ci takes it", async () => {
    const copy = await mkdtemp(join(tmpdir(), "millrace-lock-"));
    try {
      for (const file of ["package.json", "package-lock.json"])
        await copyFile(join(root, folder, file), join(copy, file));
      const dryRun = ["ci", "--dry-run", "--offline", "--ignore-scripts", "--no-audit"];
      await expect(promisify(execFile)("npm", dryRun, { cwd: copy })).resolves.toBeDefined();
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  it("run no program when they are installed, but for those that were decided on", async () => {
    const { allowScripts } = await readManifest(folder);
    const { packages } = await readLockfile(join(root, folder, "package-lock.json"));
    const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
    expect(scripted.filter((name) => !(name in allowScripts))).toEqual([]);
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
    expect(allowed.toSorted()).toEqual(ALLOWED[folder]);
  });
});

/** Each brings a program: Node itself, workerd, esbuild, and the two runtimes of the client's tests. */
const ALLOWED: Record<string, string[]> = {
  ".": ["esbuild", "node", "workerd"],
  bench: [],
  "test/runtimes": ["bun", "deno"],
};

it("what comes from PyPI is named by exact versions, too", async () => {
  const files: string[] = [];
  for await (const file of glob("{bench,models}/**/*requirements.txt", { cwd: root })) files.push(file);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const lines = (await readFile(join(root, file), "utf8")).split("\n").filter((line) => line.trim() !== "");
    expect({ file, loose: lines.filter((line) => !/^([\w.-]+==[\w.]+|-r [\w.-]+)$/.test(line)) }).toEqual({
      file,
      loose: [],
    });
  }
});
