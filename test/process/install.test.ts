import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../e2e/run-npm.ts";

/** Packages of the names and folders that are trimmed, small enough for a test; npm installs them without a network. */
const PACKED: Readonly<Record<string, readonly string[]>> = {
  "onnxruntime-node": ["darwin/arm64", "linux/arm64", "linux/x64", "win32/arm64", "win32/x64"].map(
    (system) => `bin/napi-v6/${system}/library`,
  ),
  binaryen: ["index.js", "bin/wasm-opt"],
  "@sparticuz/chromium": ["bin/chromium.br", "bin/swiftshader.tar.br"],
  tool: ["index.js"],
};
const FILE_BYTES = 2 ** 20;
const REMOVED_MB = { running: 4 + 1 + 1, developing: 4 + 1 };

let folder: string;
let modules: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-install-"));
  modules = join(folder, "node_modules");
  for (const [name, contents] of Object.entries(PACKED)) {
    for (const file of contents) {
      const path = join(folder, "packages", name, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, Buffer.alloc(FILE_BYTES));
    }
    const bin = name === "binaryen" ? { bin: { "wasm-opt": "bin/wasm-opt" } } : {};
    await writeFile(join(folder, "packages", name, "package.json"), JSON.stringify({ name, version: "1.0.0", ...bin }));
  }
  const folders = Object.keys(PACKED).map((name) => join(folder, "packages", name));
  await npm("pack", "--pack-destination", folder, ...folders);
  const addressOf = (name: string) => [name, `file:${name.replace("@", "").replace("/", "-")}-1.0.0.tgz`];
  const { tool, ...dependencies } = Object.fromEntries(Object.keys(PACKED).map(addressOf)) as Record<string, string>;
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies, devDependencies: { tool } }),
  );
  await npm("install", "--package-lock-only");
  for (const name of ["install.mjs", "trim-packages.mjs"])
    await cp(join(import.meta.dirname, "../../src/local", name), join(folder, "src/local", name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function npm(...args: string[]): Promise<void> {
  const { code, stderr } = await run("npm", ["--prefix", folder, "--offline", "--loglevel=error", ...args]);
  expect(code, stderr).toBe(0);
}

/** What the script said; npm's own output goes with it. */
async function install(purpose: "running" | "developing", env: Record<string, string> = {}): Promise<string> {
  const program = join(folder, "src/local/install.mjs");
  const { code, stderr } = await run(process.execPath, [program, purpose], { npm_config_offline: "true", ...env });
  expect(code, stderr).toBe(0);
  return stderr;
}

async function files(name: string): Promise<string[]> {
  const entries = await readdir(join(modules, name), { recursive: true, withFileTypes: true }).catch(() => []);
  const found = entries.filter((entry) => entry.isFile() && entry.name !== "package.json");
  return found.map((entry) => join(entry.parentPath, entry.name).slice(join(modules, name).length + 1)).toSorted();
}

const ours = [`bin/napi-v6/${process.platform}/${process.arch}/library`];
const has = async (name: string) => (await files(name)).length > 0;

it("installs what running needs, then adds development to it, and removes the rest again after each `npm ci`", async () => {
  const first = await install("running");
  expect(first).toContain(`Removed ${REMOVED_MB.running} MB`);
  expect(first).toContain("MILLRACE_KEEP_ALL=1");
  expect(await files("onnxruntime-node")).toEqual(ours);
  expect(await files("@sparticuz/chromium")).toEqual(["bin/swiftshader.tar.br"]);
  expect(await has("tool")).toBe(false);
  expect(await install("running"), "a second time").toBe("");
  await npm("ls", "--omit=dev");

  const library = join(modules, "onnxruntime-node", ours[0] ?? "");
  const before = await stat(library);
  expect(await install("developing")).toContain("Installing");
  expect(await has("tool")).toBe(true);
  expect(await files("@sparticuz/chromium"), "tests start it").toEqual(["bin/chromium.br", "bin/swiftshader.tar.br"]);
  expect(await files("onnxruntime-node")).toEqual(ours);
  expect((await stat(library)).ino, "what runs from the folder is not replaced").toBe(before.ino);
  await npm("ls");
  expect(await install("running"), "development stays").toBe("");
  expect(await has("tool")).toBe(true);

  const lock = join(folder, "package-lock.json");
  const text = await readFile(lock, "utf8");
  await utimes(join(modules, ".package-lock.json"), new Date(0), new Date(0));
  expect(await install("running"), "by a newer lockfile").toContain(`Removed ${REMOVED_MB.developing} MB`);
  expect(await has("tool")).toBe(true);
  expect(await readFile(lock, "utf8")).toBe(text);

  await npm("ci");
  expect(await files("onnxruntime-node")).toHaveLength(5);
  expect(await install("developing", { MILLRACE_KEEP_ALL: "1" })).toBe("");
  expect(await files("onnxruntime-node")).toHaveLength(5);
  expect(await install("developing")).toContain(`Removed ${REMOVED_MB.developing} MB`);
  expect(await files("onnxruntime-node")).toEqual(ours);
});

it("says which purpose it does not know", async () => {
  const { code, stderr } = await run(process.execPath, [join(folder, "src/local/install.mjs"), "walking"]);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('"walking" must be "running"') });
});
