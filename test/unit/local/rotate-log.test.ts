import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rotateLog } from "../../../src/local/local-runner.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-log-"));
});
afterEach(() => rm(folder, { recursive: true }));

it("keeps a log and the one before it, while a process writes", async () => {
  const path = join(folder, "runner.log");
  const log = await open(path, "a");
  await log.write("first\n");
  expect(await rotateLog(path, 6)).toBe(false);
  await log.write("second\n");
  expect(await rotateLog(path, 6)).toBe(true);
  await log.write("third\n");
  expect(await readFile(path, "utf8")).toBe("third\n");
  expect(await readFile(`${path}.1`, "utf8")).toBe("first\nsecond\n");
  await log.write("fourth\n");
  expect(await rotateLog(path, 6)).toBe(true);
  expect(await readFile(`${path}.1`, "utf8")).toBe("third\nfourth\n");
  await log.close();
});
