import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeWhole } from "../../../../src/gpu-runner/host/files.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-write-whole-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("leaves the file alone in its folder, readable for its owner", async () => {
  const path = join(folder, "file");
  await writeWhole(path, "first");
  await writeWhole(path, "second", { mode: 0o600 });
  expect(await readFile(path, "utf8")).toBe("second");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["file"]);
});

it("leaves what was there, and no draft, where writing fails half-way", async () => {
  const path = join(folder, "file");
  await writeWhole(path, "first");
  const write: typeof writeFile = async (draft) => {
    await writeFile(draft, "sec");
    throw Object.assign(new Error("full"), { code: "ENOSPC" });
  };
  await expect(writeWhole(path, "second", { write })).rejects.toThrow("full");
  expect(await readFile(path, "utf8")).toBe("first");
  expect(await readdir(folder)).toEqual(["file"]);
});
