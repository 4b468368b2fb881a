import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { readToldFaults } from "../../../../src/checkup/runner-folder.ts";
import { Troubles } from "../../../../src/gpu-runner/host/troubles.ts";

const fault = (cause: string) => ({ cause, found: `It is ${cause}`, advice: "Mend it." });

it("logs a fault once, however often it comes and goes, and keeps the last that the doctor cannot see itself", async () => {
  const error = vi.fn<(details: unknown, message?: string) => void>();
  const troubles = new Troubles({ error, warn: error } as never);
  const folder = await mkdtemp(join(tmpdir(), "millrace-troubles-"));
  await troubles.keepIn(folder);
  for (const cause of ["name", "name", "silence", "name", "silence"]) troubles.tell(fault(cause), "link");
  expect(error.mock.calls.map(([, message]) => message)).toEqual(["It is name. Mend it.", "It is silence. Mend it."]);
  troubles.tell(fault("clock"));
  troubles.tell(fault("folder-wanted"));
  troubles.ended("link");
  troubles.tell(fault("name"), "link");
  await troubles.last(fault("credential"));
  expect(error).toHaveBeenCalledTimes(4);
  const told = await readToldFaults(folder);
  expect(Object.entries(told).map(([subject, { cause }]) => [subject, cause])).toEqual([
    ["folder-wanted", "folder-wanted"],
    ["link", "name"],
    ["end", "credential"],
  ]);
  // A new life begins without them.
  await new Troubles({ error, warn: error } as never).keepIn(folder);
  expect(await readToldFaults(folder)).toEqual({});
  await rm(folder, { recursive: true });
});
