import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { askYes } from "../../../src/cli/deploy/deploy-command.ts";
import { readSettings, renderDiff, writeSettings } from "../../../src/cli/deploy/settings-text.ts";
import { createTestShell } from "./test-shell.ts";

const ID = "6e7b1f0e-1111-4222-8333-444455556666";
const names = { worker: "lab", database: "lab", bucket: "lab-artifacts" };
const readOwn = () => readFile(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");

it("finds a deployment's names in the project's own settings, and that nobody put an id in", async () => {
  const found = { worker: "millrace", database: "millrace", bucket: "millrace-artifacts", databaseId: null };
  expect(readSettings(await readOwn())).toEqual(found);
});

it("writes them where they stood, and touches nothing else", async () => {
  const before = await readOwn();
  const after = writeSettings(before, names, ID);
  expect(readSettings(after)).toEqual({ ...names, databaseId: ID });
  expect(after).toContain('name = "RUNNER_LINK"');
  expect(renderDiff(before, after).split("\n")).toEqual([
    '- name = "millrace"',
    '+ name = "lab"',
    '- database_name = "millrace"',
    '+ database_name = "lab"',
    '- database_id = "00000000-0000-0000-0000-000000000000"',
    `+ database_id = "${ID}"`,
    '- bucket_name = "millrace-artifacts"',
    '+ bucket_name = "lab-artifacts"',
    "",
  ]);
  expect(writeSettings(after, names, ID)).toBe(after);
  expect(() => readSettings(before.replace("database_id", "database"))).toThrow("no line `database_id");
});

it("takes a yes from a person, and from nobody else", async () => {
  const ask = (text: string, inputIsTerminal: boolean) => askYes("Go on?", createTestShell({ text, inputIsTerminal }));
  expect(await ask("y\n", true)).toBe(true);
  expect(await ask("Yes\nno\n", true)).toBe(true);
  for (const text of ["n\n", "\n", "yesterday\n", ""]) expect(await ask(text, true)).toBe(false);
  expect(await ask("y\n", false)).toBe(false);
});
