import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalStack, startLocalStack, waitFor } from "../local-stack.ts";
import { root } from "../run-npm.ts";
import { PARTS, PROTOCOL_PART } from "./echo-kind.ts";

const PART_BOXES = PARTS.map(({ box }) => box);

const COPIED = [
  "src",
  "kernels",
  "models",
  "migrations",
  "dist",
  "package.json",
  "tsconfig.json",
  "tsconfig.base.json",
  "wrangler.toml",
];

let project: string;
let stack: LocalStack;
/** Files with errors once the kind has its schemas alone, and once it is complete. */
let lacking: string[];
let complete: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "millrace-new-kind-"));
  await Promise.all(COPIED.map((name) => cp(join(root, name), join(project, name), { recursive: true })));
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  await addPart(PROTOCOL_PART);
  lacking = [...new Set((await compile(PART_BOXES)).matchAll(/^(.+)\(\d+,\d+\): error /gm).map(([, file]) => file!))];
  for (const part of PARTS) await addPart(part);
  complete = await compile([...PART_BOXES, "src/cli", "src/dashboard"]);
  const built = await run("npm", ["run", "--silent", "build:edge"]);
  if (built.code !== 0) throw new Error(built.output);
  stack = await startLocalStack({ root: project, runnerVariables: () => ({ MILLRACE_GPU: "none" }) });
}, 900_000);

afterAll(async () => {
  await stack.stop();
  await rm(project, { recursive: true, force: true });
});

/** Writes a part of the kind, and behind each line of its list that names `compression` one that names the kind. */
async function addPart({ file, content, list }: typeof PROTOCOL_PART): Promise<void> {
  await writeFile(join(project, file), content.trimStart());
  const lines = (await readFile(join(project, list), "utf8")).split("\n");
  const named = lines.flatMap((line) =>
    /compression/i.test(line)
      ? [line, line.replaceAll("compression", "echo").replaceAll("Compression", "Echo")]
      : [line],
  );
  await writeFile(join(project, list), named.join("\n"));
}

/** A command in the project, with all that it prints. */
function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const options = { cwd: project, env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` }),
    );
  });
}

async function compile(boxes: readonly string[]): Promise<string> {
  // The compiler is a Go program, which collects its garbage at a tenth less cost where it may grow.
  return (await run(join(project, "node_modules/.bin/tsc"), ["-b", ...boxes], { GOGC: "400" })).output;
}

async function millrace(...args: string[]): Promise<string> {
  const env = { MILLRACE_EDGE: stack.baseUrl, MILLRACE_KEY: stack.adminKey, XDG_CONFIG_HOME: project };
  const { code, output } = await run(process.execPath, ["src/cli/main.ts", ...args], env);
  expect({ code, output }).toMatchObject({ code: 0 });
  return output;
}

/** The API without the client, whose schemas do not know the kind. */
async function ask(path: string, body?: object) {
  const headers = { authorization: `Bearer ${stack.adminKey}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const reply = await fetch(`${stack.baseUrl}${path}`, init);
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

describe("a job kind that is added by the recipe", () => {
  it("is missed by the compiler in the list of every part, and nowhere else", () => {
    expect(lacking.toSorted()).toEqual(PARTS.map(({ list }) => list).toSorted());
  });

  it("is complete with the parts of the recipe", () => {
    expect(complete).toBe("");
  });

  it("runs, is listed and is shown", async () => {
    const { status, json } = await ask("/v1/jobs", { kind: "echo", text: "hello" });
    expect({ status, json }).toMatchObject({ status: 202, json: { spec: { kind: "echo", text: "hello" } } });
    const id = String(json["id"]);
    const ended = await waitFor("the job to end", async () => {
      const job = (await ask(`/v1/jobs/${id}`)).json;
      return ["succeeded", "failed"].includes(String(job["state"])) ? job : undefined;
    });
    const result = { kind: "echo", text: "hello", environment: { deviceKey: expect.any(String) } };
    expect(ended).toMatchObject({ state: "succeeded", attempt: 1, result });
    const ofKind = { items: [{ id, state: "succeeded", verdict: null, spec: { kind: "echo" } }] };
    expect((await ask("/v1/jobs?kind=echo")).json).toMatchObject(ofKind);
    expect((await ask(`/v1/runs/${String(ended["runId"])}`)).json).toMatchObject({ jobId: id, result });
    expect(JSON.parse(await millrace("jobs", "list", "--json"))).toMatchObject([{ id, spec: { kind: "echo" } }]);
    expect(JSON.parse(await millrace("jobs", "show", id, "--json"))).toMatchObject({ id, result });
    expect(await millrace("jobs", "list")).toMatch(/echo +hello/);
    expect(await millrace("jobs", "show", id)).toMatch(/echo of hello[^]*heard +hello/);
  });

  it.each([
    ["without a field", {}, "#/text"],
    ["with a field that is not known", { text: "hello", volume: 11 }, "#/volume"],
    ["with what its kind does not take", { text: "silence" }, "#/text"],
  ])("is refused %s", async (_, fields, pointer) => {
    const { status, json } = await ask("/v1/jobs", { kind: "echo", ...fields });
    expect({ status, json }).toMatchObject({ status: 400, json: { code: "invalid-request", errors: [{ pointer }] } });
  });
});
