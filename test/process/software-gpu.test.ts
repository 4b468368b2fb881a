import { access, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installSoftwareGpu, untar } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-software-gpu-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("two installations at once leave one whole folder", async () => {
  const cacheDir = path.join(folder, "cache");
  const environments = await Promise.all([installSoftwareGpu(cacheDir), installSoftwareGpu(cacheDir)]);
  expect(environments[0]).toEqual(environments[1]);
  const [installed, ...others] = await readdir(cacheDir);
  expect(others).toEqual([]);
  expect((await readdir(path.join(cacheDir, installed ?? ""))).toSorted()).toEqual([
    "libvk_swiftshader.so",
    "libvulkan.so.1",
    "vk_swiftshader_icd.json",
  ]);
  const icd = environments[0]["VK_ICD_FILENAMES"] ?? "";
  expect(path.isAbsolute(icd)).toBe(true);
  await access(icd);
});

test("a damaged archive is refused", () => {
  const archive = new Uint8Array(1024);
  archive.set(new TextEncoder().encode("file"), 0);
  archive.set(new TextEncoder().encode("00000100000"), 124);
  archive[156] = "0".charCodeAt(0);
  expect(() => [...untar(archive)]).toThrow("the archive is damaged");
});
