import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endLeftovers } from "../../../src/local/leftovers.ts";

let dataDir = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-leftovers-"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dataDir, { recursive: true });
});

const note = (text: string) => writeFile(join(dataDir, "children.json"), text);

describe("what a killed process left behind", () => {
  let child: ChildProcess;
  beforeEach(async () => {
    child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1_000)"], { stdio: "ignore" });
    await once(child, "spawn");
    const stat = await readFile(`/proc/${child.pid}/stat`, "utf8");
    const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    await note(JSON.stringify([{ pid: child.pid, startTicks }]));
  });
  afterEach(() => child.kill("SIGKILL"));

  it("is ended", async () => {
    const ended = once(child, "exit");
    await endLeftovers(dataDir);
    expect(await ended).toEqual([null, "SIGKILL"]);
  });

  it("that ends of itself in the last moment is no error", async () => {
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
    });
    await endLeftovers(dataDir);
    expect(kill).toHaveBeenCalledOnce();
  });
});

it.each(["", "null", "{}", "[null]", '[{"pid":0,"startTicks":"1"}]', '[{"pid":'])(
  "a file that holds %j names nobody, and goes",
  async (text) => {
    await note(text);
    const kill = vi.spyOn(process, "kill");
    await endLeftovers(dataDir);
    expect(kill).not.toHaveBeenCalled();
    await expect(access(join(dataDir, "children.json"))).rejects.toThrow("ENOENT");
  },
);
