import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseEdge, LOCAL_EDGE } from "../../../src/cli/context/choose-edge.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { createTestShell, type Ended } from "./test-shell.ts";

const book = {
  current: "lab",
  contexts: {
    lab: { edge: "https://lab.test", key: "mk_lab" },
    far: { edge: "https://far.test/", keyFile: "/keys/far" },
    bare: { edge: "https://bare.test" },
  },
};
const choose = (choice: Parameters<typeof chooseEdge>[0], env: Record<string, string> = {}, of = book) =>
  chooseEdge(choice, env, of, "/here/.millrace/admin.key");
const none = { current: null, contexts: {} } as unknown as typeof book;

describe("the edge that is asked", () => {
  it("is that of the option, then of the environment, then of the context, then the local one", () => {
    const env = { MILLRACE_EDGE: "https://env.test", MILLRACE_CONTEXT: "bare" };
    expect(choose({ edge: "https://opt.test" }, env).edge).toBe("https://opt.test");
    expect(choose({ context: "far" }, env).edge).toBe("https://far.test/");
    expect(choose({}, env).edge).toBe("https://env.test");
    expect(choose({}, { MILLRACE_CONTEXT: "bare" }).edge).toBe("https://bare.test");
    expect(choose({}).edge).toBe("https://lab.test");
    expect(choose({}, {}, none)).toEqual({
      edge: LOCAL_EDGE,
      key: { file: "/here/.millrace/admin.key", mayLack: true },
    });
  });

  it("is asked by the key that was given for it, and never by that of another", () => {
    expect(choose({ key: "mk_opt" }, { MILLRACE_KEY: "mk_env" }).key).toEqual({ secret: "mk_opt" });
    expect(choose({}, { MILLRACE_KEY: "mk_env" }).key).toEqual({ secret: "mk_env" });
    expect(choose({}).key).toEqual({ secret: "mk_lab" });
    expect(choose({ context: "far" }, { MILLRACE_KEY: "mk_env" }).key).toEqual({ file: "/keys/far", mayLack: false });
    expect(choose({ edge: "https://far.test", context: "far" }).key).toEqual({ file: "/keys/far", mayLack: false });
    expect(choose({ edge: "https://else.test" }).key).toBeNull();
    expect(choose({}, { MILLRACE_EDGE: "https://else.test" }).key).toBeNull();
    expect(choose({ edge: "http://localhost:9000" }).key).toEqual({ file: "/here/.millrace/admin.key", mayLack: true });
    expect(choose({ edge: "http://localhost.test" }).key).toBeNull();
  });

  it("must be of a context that there is", () => {
    expect(() => choose({ context: "moon" })).toThrow("There is no context moon; there is: lab, far, bare.");
    expect(() => choose({}, { MILLRACE_CONTEXT: "moon" })).toThrow("no context moon");
  });
});

describe("millrace context", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-context-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function run(...args: string[]): Promise<Ended & { readonly asked: [string, string | null][] }> {
    const asked: [string, string | null][] = [];
    const shell = createTestShell({
      env: { XDG_CONFIG_HOME: folder },
      folder,
      fetch: async (url, init) => {
        asked.push([url as string, new Headers(init?.headers).get("authorization")]);
        return Response.json({ items: [], nextCursor: null });
      },
    });
    await runProgram(args, shell);
    return { ...shell.ended(), asked };
  }
  const path = () => join(folder, "millrace", "contexts.json");

  it("keeps edges for their owner alone, uses the first, and never shows a key", async () => {
    await writeFile(join(folder, "key"), "mk_from_file\n");
    expect(await run("context", "add", "lab", "--edge", "https://lab.test", "--key", "mk_secret_of_lab")).toMatchObject(
      { code: 0, err: "" },
    );
    expect(await run("context", "add", "far", "--edge", "https://far.test", "--key-file", "key")).toMatchObject({
      code: 0,
    });
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    const { out } = await run("context", "list", "--json");
    expect(JSON.parse(out)).toEqual([
      { name: "lab", current: true, edge: "https://lab.test", key: "mk_sec…" },
      { name: "far", current: false, edge: "https://far.test", key: join(folder, "key") },
    ]);
    expect((await run("models", "list")).asked).toEqual([
      ["https://lab.test/v1/models?limit=200", "Bearer mk_secret_of_lab"],
    ]);
    await run("context", "use", "far");
    expect((await run("models", "list")).asked).toEqual([
      ["https://far.test/v1/models?limit=200", "Bearer mk_from_file"],
    ]);
    await run("context", "remove", "far");
    expect((await run("models", "list", "--context", "lab")).asked).toHaveLength(1);
    expect((await run("models", "list")).asked).toEqual([["http://127.0.0.1:8787/v1/models?limit=200", null]]);
  });

  it("refuses what cannot be a context, and leaves the others as they are", async () => {
    await run("context", "add", "lab", "--edge", "https://lab.test");
    const before = await readFile(path(), "utf8");
    for (const [args, code, reason] of [
      [["add", "a b", "--edge", "https://x.test"], 2, "a b is no name"],
      [["add", "x", "--edge", "ftp://x.test"], 2, "--edge must be an address"],
      [["add", "x", "--edge", "https://x.test", "--key", "a", "--key-file", "b"], 2, "and not both"],
      [["add", "x", "--edge", "https://x.test", "--key-file", "nowhere"], 2, "no such file"],
      [["add", "x"], 2, "'--edge <url>' not specified"],
      [["use", "moon"], 5, "There is no context moon; there is: lab."],
      [["remove", "moon"], 5, "There is no context moon"],
      [["use"], 2, "missing required argument 'name'"],
    ] as const) {
      const ended = await run("context", ...args);
      expect(ended.err, args.join(" ")).toContain(reason);
      expect(ended).toMatchObject({ code, out: "" });
    }
    expect(await readFile(path(), "utf8")).toBe(before);
    await writeFile(path(), "{}");
    expect(await run("models", "list")).toMatchObject({ code: 2, asked: [] });
  });
});
