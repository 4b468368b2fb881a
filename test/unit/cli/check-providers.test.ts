import { expect, it } from "vitest";
import { judgeProviders } from "../../../src/cli/doctor/check-providers.ts";
import { reasonOf } from "../../../src/cli/shell/run-apart.ts";

const listed = (provider: string, state: "working" | "failing" | "unused", found: string, ...advice: string[]) => ({
  provider,
  state,
  found,
  advice,
});

it("names what fails with what to do, else what works", () => {
  const works = listed("webgpu", "working", "ort-gpu0 rtx");
  const unused = listed("coreml", "unused", "there is none for linux x64");
  const fails = listed("cuda", "failing", "NVIDIA's driver (libcuda.so.1)", "Install it.", "Or that.");
  expect(judgeProviders([works, fails, unused])).toEqual({
    state: "failure",
    found: "cuda: NVIDIA's driver (libcuda.so.1)",
    advice: "Install it. Or that.",
  });
  expect(judgeProviders([works, unused])).toMatchObject({ state: "ok", found: "webgpu: ort-gpu0 rtx" });
  const stale = listed("cuda", "unused", "of another version", "Mend it.");
  expect(judgeProviders([works, stale])).toEqual({
    state: "warning",
    found: "cuda: of another version",
    advice: "Mend it.",
  });
  expect(judgeProviders([unused])).toMatchObject({ state: "skipped" });
});

it("says why a program ended by the line that names its error, else by its last", () => {
  const thrown = "node:internal\n\nError: Cannot find module 'x.ts'\n    at load\n\nNode.js v24.21.0\n";
  expect(reasonOf(thrown)).toBe("Error: Cannot find module 'x.ts'");
  expect(reasonOf("warning\nno driver\n\n")).toBe("no driver");
  expect(reasonOf("\n")).toBeUndefined();
});
