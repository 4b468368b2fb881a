import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type InstallOptions, installCuda } from "../../../../src/gpu-runner/providers/install-provider.ts";
import { findInstalled, linkRuntime, locateBinding } from "../../../../src/gpu-runner/providers/installed-provider.ts";
import { readLibrary, scanFile } from "../../../../src/gpu-runner/providers/read-library.ts";
import { writeLibrary, writeZip } from "../../../plants/provider-library.ts";

const CUDA = "libonnxruntime_providers_cuda.so";
const SHARED = "libonnxruntime_providers_shared.so";
const { version } = await locateBinding();
const ENTRY = { exported: ["GetProvider"], constant: version };
const NEEDED = ["libcublas.so.13", "libcudart.so.13", "libcuda.so.1", "libc.so.6"];
const GOOD = {
  [CUDA]: writeLibrary({ ...ENTRY, needed: NEEDED }),
  [SHARED]: writeLibrary({ exported: ["Provider_GetHost", "Provider_SetHost"] }),
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-install-"));
});
afterEach(() => rm(folder, { recursive: true }));

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** A folder with these files. */
async function place(files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  const path = await mkdtemp(join(folder, "given-"));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
  return path;
}

function install(options: Partial<InstallOptions>) {
  const nowhere = () => Promise.reject(new Error("there is no network"));
  return installCuda({ dataDir: join(folder, "runner"), cuda: 13, fetch: nowhere, ...options });
}

const find = () => findInstalled(join(folder, "runner"), "ort-cuda");

describe("installing CUDA's libraries", () => {
  it("takes them from a folder once their digest is named", async () => {
    const from = await place(GOOD);
    const sha256 = [digestOf(GOOD[CUDA]), digestOf(GOOD[SHARED])];
    await expect(install({ from })).rejects.toThrow(`If you trust them, add --sha256 ${sha256.join(",")}.`);
    await expect(install({ from, sha256: sha256.slice(0, 1) })).rejects.toThrow("does not know the libraries");
    await expect(install({ from, sha256: ["0".repeat(64)] })).rejects.toThrow("Nothing in");
    expect(await find()).toContain("are not installed");
    await mkdir(join(folder, "runner/providers/installing-x"), { recursive: true });
    const installed = await install({ from, sha256 });
    expect(installed).toMatchObject({ ort: version, cuda: 13, from });
    expect(installed.libraries).toEqual(["libcublas.so.13", "libcudart.so.13", "libcuda.so.1", "libcudnn.so.9"]);
    expect(await find()).toMatchObject(installed);
    expect(await readdir(join(folder, "runner/providers/ort-cuda"))).toEqual(
      expect.arrayContaining([CUDA, SHARED, "installed.json"]),
    );
    // Nothing half done stays beside it.
    expect(await readdir(join(folder, "runner/providers"))).toEqual(["ort-cuda"]);
  });

  it("takes them from a wheel, a package and a tarball, wherever they lie in it", async () => {
    const wheel = writeZip({ [`onnxruntime/capi/${CUDA}`]: GOOD[CUDA], [`onnxruntime/capi/${SHARED}`]: GOOD[SHARED] });
    const from = join(folder, "given.whl");
    await writeFile(from, wheel);
    expect((await install({ from, sha256: [digestOf(wheel)] })).files).toEqual({
      [CUDA]: digestOf(GOOD[CUDA]),
      [SHARED]: digestOf(GOOD[SHARED]),
    });
    const tarball = join(folder, "given.tgz");
    execFileSync("tar", ["-czf", tarball, "-C", await place(GOOD), "."]);
    await install({ from: tarball, sha256: [digestOf(await readFile(tarball))] });
    expect(await find()).toMatchObject({ from: tarball });
  });

  it("downloads what an index names, and compares the index's digest", async () => {
    const wheel = writeZip({ [CUDA]: GOOD[CUDA], [SHARED]: GOOD[SHARED] });
    const name = `onnxruntime_gpu-${version}-cp312-cp312-manylinux_2_28_x86_64.whl`;
    const serve =
      (sha256: string): typeof fetch =>
      async (url) =>
        new Request(url).url.endsWith(name)
          ? new Response(new Uint8Array(wheel))
          : Response.json({ files: [{ filename: name, url: `/files/${name}`, hashes: { sha256 } }] });
    await expect(install({ fetch: serve("f".repeat(64)) })).rejects.toThrow("its index says");
    const own = digestOf(wheel);
    await expect(install({ fetch: serve(own) })).rejects.toThrow("does not know the libraries");
    expect((await install({ fetch: serve(own), sha256: [own] })).from).toMatch(/cp312.*\.whl$/);
    await expect(install({})).rejects.toThrow("name the file or folder with --from");
    const absent: typeof fetch = async () => new Response(null, { status: 404 });
    await expect(install({ cuda: 12, fetch: absent })).rejects.toThrow(/^There is no .*--from/);
    const broken: typeof fetch = async () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) }));
    await expect(install({ cuda: 12, fetch: broken })).rejects.toThrow(/reset.*--from/);
    await expect(install({ fetch: serve(own), sha256: ["0".repeat(64)] })).rejects.toThrow(`has the SHA-256 ${own}`);
  });

  it.each<[string, Partial<Record<string, Uint8Array>>, string]>([
    [
      "of another version",
      { [CUDA]: writeLibrary({ ...ENTRY, needed: NEEDED, constant: "1.0.0" }) },
      "another version",
    ],
    [
      "for another CUDA",
      { [CUDA]: writeLibrary({ ...ENTRY, needed: ["libcudart.so.12"] }) },
      "built for CUDA 12, not 13",
    ],
    ["for another processor", { [CUDA]: writeLibrary({ ...ENTRY, machine: 183 }) }, "no library for Linux on x64"],
    ["that are none", { [SHARED]: Buffer.from("hello") }, "no library for Linux on x64"],
    [
      "of something else",
      { [SHARED]: writeLibrary({ exported: ["main"] }) },
      "lacks Provider_GetHost, Provider_SetHost",
    ],
  ])("refuses libraries %s, and keeps what was there", async (_, changes, reason) => {
    const good = await place(GOOD);
    const installed = await install({ from: good, sha256: Object.values(GOOD).map(digestOf) });
    const files = { ...GOOD, ...(changes as typeof GOOD) };
    const from = await place(files);
    await expect(install({ from, sha256: Object.values(files).map(digestOf) })).rejects.toThrow(reason);
    expect(await find()).toMatchObject(installed);
  });

  it("says what it does not find", async () => {
    await expect(install({ from: join(folder, "absent") })).rejects.toThrow("There is no");
    await expect(install({ from: await place({ [CUDA]: GOOD[CUDA] }) })).rejects.toThrow(`has no ${SHARED}`);
    const other = join(folder, "other.whl");
    await writeFile(other, "no archive at all, though it is long enough to be one");
    await expect(install({ from: other })).rejects.toThrow("is no wheel, NuGet package or tarball");
    await mkdir(join(folder, "runner/providers/ort-cuda"), { recursive: true });
    await writeFile(join(folder, "runner/providers/ort-cuda/installed.json"), "{");
    await expect(find()).rejects.toThrow("cannot be read");
  });
});

it("links the runtime once, and elsewhere without a trace", async () => {
  const own = await place(GOOD);
  const names = Object.keys(GOOD);
  await linkRuntime(own, names, join(folder, "elsewhere"));
  expect(await readdir(own)).toEqual(names);
  expect(await readdir(join(folder, "elsewhere"))).toEqual(["libonnxruntime.so.1", ...names]);
  await linkRuntime(own, names);
  const { ino } = await lstat(join(own, "libonnxruntime.so.1"));
  await linkRuntime(own, names);
  expect((await lstat(join(own, "libonnxruntime.so.1"))).ino).toBe(ino);
});

it("reads the tables of the runtime's own library", async () => {
  const root = dirname(dirname(createRequire(import.meta.url).resolve("onnxruntime-node")));
  const path = join(root, "bin/napi-v6/linux/x64/libonnxruntime.so.1");
  const library = await readLibrary(path);
  expect(library?.needed).toContain("libstdc++.so.6");
  expect(library?.exported.has("OrtGetApiBase")).toBe(true);
  expect(library?.exported.has("dlopen")).toBe(false);
  expect(await scanFile(path, version)).toMatchObject({ holds: true });
  expect(await scanFile(path, "0.0.0-none")).toMatchObject({ holds: false });
  expect(await readLibrary(import.meta.filename)).toBeNull();
});
