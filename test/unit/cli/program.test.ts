import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createProgram, runProgram } from "../../../src/cli/program.ts";
import { reportError } from "../../../src/cli/shell/report-error.ts";
import { createProblem, ProblemError, PROBLEMS } from "../../../src/protocol/wire/problem.ts";
import { createTestShell, type Ended } from "./test-shell.ts";

async function run(args: readonly string[], reply?: Response): Promise<Ended> {
  const shell = createTestShell({
    fetch: async () => {
      if (reply === undefined) throw new TypeError("no route");
      return reply.clone();
    },
  });
  await runProgram(args, shell);
  return shell.ended();
}

/** Every command that does something, as a person writes it. */
function listLeaves(command = createProgram(createTestShell()), path: string[] = []): string[][] {
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((each) => listLeaves(each, [...path, each.name()]));
}

describe("every command", () => {
  it.each(listLeaves().map((path) => [path.join(" "), path] as const))(
    "%s takes --json and has help",
    async (_, path) => {
      const { code, out, err } = await run([...path, "--help"]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain(`Usage: millrace ${path.join(" ")}`);
      expect(out).toContain("--json");
    },
  );

  it.each(listLeaves().map((path) => [path.join(" "), path] as const))(
    "%s refuses what it does not know",
    async (_, path) => {
      const told = await run([...path, "--no-such-option"]);
      expect(told).toMatchObject({ code: 2, out: "" });
      expect(told.err).toMatch(
        /^millrace: (unknown option '--no-such-option'|required option '.*' not specified).*\n$/,
      );
      const asJson = await run([...path, "--no-such-option", "--json"]);
      expect(asJson).toMatchObject({ code: 2, out: "" });
      expect(JSON.parse(asJson.err)).toMatchObject({ code: "invalid-request", status: 400 });
    },
  );
});

describe("runner start", () => {
  const start = (...options: string[]) => run(["runner", "start", "--edge", "http://lab", ...options]);

  it("refuses a duration of a runner that is not ephemeral, and one that is none", async () => {
    expect(await start("--duration", "1800")).toMatchObject({ code: 2, err: expect.stringContaining("--ephemeral") });
    for (const text of ["30m", "0", "86401"]) {
      const { code, err } = await start("--ephemeral", "--duration", text);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("--duration <s>") });
    }
  });
});

describe("the program", () => {
  it("shows its help where no command is named, and its version where that is asked for", async () => {
    const bare = await run([]);
    expect(bare).toMatchObject({ code: 2, out: "" });
    expect(bare.err).toContain("Usage: millrace");
    expect(await run(["--help"])).toMatchObject({ code: 0, err: "" });
    expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run(["modles"])).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean models?") });
  });

  it("ends with the code of the problem, shown in one line with the remedy, or as JSON", async () => {
    const problem = createProblem("unauthorized", "The key is unknown.", { retryAfterMs: 1_500 });
    const refusal = Response.json(problem, { status: 401 });
    expect(await run(["models", "list"], refusal)).toEqual({
      code: 4,
      out: "",
      err: "millrace: The key is unknown. – name a key by --key, MILLRACE_KEY or `millrace context add` – try again in 1.5 s\n",
    });
    const asJson = await run(["models", "list", "--json"], refusal);
    expect(asJson).toMatchObject({ code: 4, out: "" });
    expect(JSON.parse(asJson.err)).toEqual(problem);
  });

  it("names the fields that the problem's sentence does not", () => {
    const told = (detail: string) => {
      const shell = createTestShell();
      const errors = [{ pointer: "#/shape", message: "must be\n3" }];
      expect(reportError(new ProblemError("invalid-request", detail, { errors }), shell, false)).toBe(2);
      return shell.ended().err;
    };
    expect(told("It is wrong.")).toBe("millrace: It is wrong. (#/shape must be 3)\n");
    expect(told("#/shape must be\n3")).toBe("millrace: #/shape must be 3\n");
  });

  it("says that no edge is there, and refuses an address that is none", async () => {
    const lost = await run(["jobs", "list"]);
    expect(lost).toMatchObject({ code: 10, out: "" });
    expect(lost.err).toMatch(
      /^millrace: GET \/v1\/jobs: http:\/\/127\.0\.0\.1:8787 cannot be reached – is it running\?/,
    );
    expect(await run(["jobs", "list", "--edge", "lab"])).toMatchObject({ code: 2 });
  });
});

describe("the exit codes", () => {
  it("are in docs/operations.md, each with the problems that end by it", async () => {
    const text = await readFile(new URL("../../../docs/operations.md", import.meta.url), "utf8");
    const section = text.split("### Exit codes")[1]?.split(/^##/m)[0] ?? "";
    const rows = new Map(
      [...section.matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(([, code, rest = ""]) => [
        Number(code),
        new Set([...rest.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)),
      ]),
    );
    for (const code of new Set(Object.values(PROBLEMS).map(({ exitCode }) => exitCode))) {
      const names = Object.entries(PROBLEMS).flatMap(([name, { exitCode }]) => (exitCode === code ? [name] : []));
      expect(rows.get(code), `the row of ${code}`).toEqual(new Set(names));
    }
  });
});
