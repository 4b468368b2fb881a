import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { listCommandWords } from "../../../src/cli/completion/command-words.ts";
import { createProgram, runProgram } from "../../../src/cli/program.ts";
import { createTestShell } from "./test-shell.ts";

async function scriptFor(name: string): Promise<string> {
  const shell = createTestShell();
  await runProgram(["completion", name], shell);
  expect(shell.ended()).toMatchObject({ code: 0, err: "" });
  return shell.ended().out;
}

/** Completions of bash after these words, whose last is being typed; the edge has the given names. */
function offer(script: string, words: readonly string[], names = ""): string[] {
  const program = [
    `millrace() { [[ "$1 $2" == "completion names" ]] && echo "$3:$NAMES" | tr ':' '\\n' | grep -v "^$3$"; }`,
    script,
    `COMP_WORDS=(millrace "$@"); COMP_CWORD=$#; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join("\n");
  const out = execFileSync("bash", ["--norc", "-c", program, "bash", ...words], {
    encoding: "utf8",
    env: { ...process.env, NAMES: names },
  });
  return out.split("\n").filter((line) => line !== "");
}

describe("completion in bash", () => {
  it("offers commands, then their own, then options", async () => {
    const script = await scriptFor("bash");
    expect(offer(script, ["mo"])).toEqual(["models"]);
    expect(offer(script, ["models", ""])).toEqual(["push", "list", "show"]);
    expect(offer(script, ["runner", "st"])).toEqual(["start", "status"]);
    expect(offer(script, ["infer", "lenet5", "--b"])).toEqual(["--budget"]);
    expect(offer(script, ["infer", "--budget", "50", "--co"])).toEqual(["--context", "--confidence"]);
    expect(offer(script, ["nonsense", "--v"])).toEqual(["--version"]);
  });

  it("offers names that the edge has, and none where it does not answer", async () => {
    const script = await scriptFor("bash");
    expect(offer(script, ["models", "show", "le"], "lenet5:cartpole")).toEqual(["lenet5"]);
    expect(offer(script, ["bench", ""], "gemm:triad")).toEqual(["gemm", "triad"]);
    expect(offer(script, ["bench", ""])).toEqual([]);
  });

  it("expands nothing that an edge gives for a name", async () => {
    const script = await scriptFor("bash");
    expect(offer(script, ["models", "show", ""], "$(echo ran)")).toEqual(["$(echo ran)"]);
  });
});

describe("completion elsewhere", () => {
  const tree = listCommandWords(createProgram(createTestShell()));

  it.each(["zsh", "fish"])("knows every command and option in %s", async (name) => {
    const script = await scriptFor(name);
    for (const { path, commands, options } of tree) {
      expect(script).toContain(`"${path}"`);
      for (const command of commands) expect(script).toContain(command.name);
      for (const { flag } of options) expect(script).toContain(name === "fish" ? `-l ${flag.slice(2)} ` : flag);
    }
    // Each quote is closed on its line.
    for (const line of script.split("\n"))
      expect((line.replaceAll(String.raw`\'`, "").match(/'/g) ?? []).length % 2, line).toBe(0);
  });

  it("asks for names that are known to be of a command's argument", () => {
    const namesOf = (path: string) => tree.find((each) => each.path === path)?.names;
    expect(
      ["act", "bench", "runner drain", "jobs watch", "context use", "context add", "models push"].map(namesOf),
    ).toEqual(["model", "kernel", "runner", "job", "context", null, null]);
  });
});
