import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deployCommand } from "../../src/cli/deploy/deploy-command.ts";
import { reportError } from "../../src/cli/shell/report-error.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { type EdgeHost, startEdge } from "../../src/local/edge-host.ts";
import { createTestShell, type Ended } from "../unit/cli/test-shell.ts";
import { root } from "./run-npm.ts";

interface Account {
  email: string | null;
  edgeUrl: string;
  /** How many deployments fail before one succeeds. */
  failures: number;
  databases: { uuid: string; name: string }[];
  buckets: string[];
  secrets: Record<string, string>;
  /** Every command line that came. */
  calls: string[];
}

let folder: string;
let project: string;
let edge: EdgeHost;
let edgeSecret: string;

/** A project with settings of its own, and a path on which wrangler and npm are ours: nobody has an account here. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-deploy-test-"));
  project = join(folder, "project");
  await mkdir(join(folder, "bin"));
  await mkdir(project);
  await copyFile(join(root, "wrangler.toml"), join(project, "wrangler.toml"));
  await plant("wrangler", `exec "${process.execPath}" "${join(root, "test/e2e/fake-wrangler.mjs")}" "$@"`);
  // What it would build is built already, and other tests run it meanwhile.
  await plant("npm", `echo "$@" >> "${join(folder, "npm.log")}"`);
  edgeSecret = createBootstrapSecret();
  edge = await startEdge({ port: 0, dataDir: join(folder, "edge"), root, bootstrapSecret: edgeSecret });
  await writeAccount({
    email: "who@lab.example",
    edgeUrl: edge.url,
    failures: 0,
    databases: [{ uuid: "0d0d0d0d-1111-4222-8333-444455556666", name: "another" }],
    buckets: ["another-artifacts"],
    secrets: {},
    calls: [],
  });
});
afterEach(async () => {
  await edge.stop();
  await rm(folder, { recursive: true, force: true });
});

async function plant(name: string, line: string): Promise<void> {
  await writeFile(join(folder, "bin", name), `#!/bin/sh\n${line}\n`);
  await chmod(join(folder, "bin", name), 0o755);
}

async function readAccount(): Promise<Account> {
  return JSON.parse(await readFile(join(folder, "account.json"), "utf8")) as Account;
}

function writeAccount(account: Account): Promise<void> {
  return writeFile(join(folder, "account.json"), JSON.stringify(account));
}

/** What Cloudflare does with a secret: the edge has it from the next request on. */
async function followSecret(): Promise<void> {
  const wanted = (await readAccount()).secrets["BOOTSTRAP_SECRET"] ?? "";
  if (wanted === "" || wanted === edgeSecret) return;
  const port = Number(new URL(edge.url).port);
  await edge.stop();
  edgeSecret = wanted;
  edge = await startEdge({ port, dataDir: join(folder, "edge"), root, bootstrapSecret: wanted });
}

async function deploy(...args: string[]): Promise<Ended> {
  const shell = createTestShell({
    folder,
    env: {
      PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter),
      FAKE_WRANGLER_STATE: join(folder, "account.json"),
    },
    fetch: async (...request) => {
      await followSecret();
      return fetch(...request);
    },
  });
  try {
    await deployCommand(shell, project).exitOverride().parseAsync(args, { from: "user" });
  } catch (error) {
    shell.exit(reportError(error, shell, false));
  }
  return shell.ended();
}

const readSettings = () => readFile(join(project, "wrangler.toml"), "utf8");

describe("millrace deploy", () => {
  it("takes an empty account to an edge that is well, and makes nothing twice", async () => {
    const first = await deploy("--name", "lab", "--yes");
    expect(first, first.err).toMatchObject({ code: 0 });
    const keyFile = join(folder, ".millrace", "lab.key");
    expect(first.err).toContain("create the D1 database lab");
    for (const check of ["edge", "clock", "page", "key"]) expect(first.out).toMatch(new RegExp(`^ok +${check} `, "m"));
    expect(first.out).toContain(`millrace context add lab --edge ${edge.url} --key-file ${keyFile}`);
    const account = await readAccount();
    expect(account.databases.map(({ name }) => name)).toEqual(["another", "lab"]);
    expect(account.buckets).toEqual(["another-artifacts", "lab-artifacts"]);
    expect(account.secrets).toEqual({});
    expect(account.calls.filter((call) => /^(d1 mig|deploy|secret [pd])/.test(call))).toEqual([
      "d1 migrations apply DB --remote",
      "deploy",
      "secret put BOOTSTRAP_SECRET",
      "secret delete BOOTSTRAP_SECRET",
    ]);
    expect(await readFile(join(folder, "npm.log"), "utf8")).toBe("run --silent build\n");
    const key = await readFile(keyFile, "utf8");
    expect(key).toMatch(/^mk_\S+\n$/);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    const original = await readFile(join(root, "wrangler.toml"), "utf8");
    expect(await readSettings()).toBe(
      original
        .replace(/^name = .*$/m, 'name = "lab"')
        .replace(/^database_name = .*$/m, 'database_name = "lab"')
        .replace(/^database_id = .*$/m, 'database_id = "6e7b1f0e-1111-4222-8333-444455556666"')
        .replace(/^bucket_name = .*$/m, 'bucket_name = "lab-artifacts"'),
    );

    const second = await deploy("--yes", "--json");
    expect(second, second.err).toMatchObject({ code: 0 });
    expect(second.err).toContain("use the D1 database lab (6e7b1f0e-1111-4222-8333-444455556666)");
    expect(second.err).toContain("leave wrangler.toml as it is");
    expect(JSON.parse(second.out)).toMatchObject({ ok: true, edge: edge.url, key: "kept", keyFile });
    expect(await readFile(keyFile, "utf8")).toBe(key);
    const calls = (await readAccount()).calls.slice(account.calls.length);
    expect(calls.filter((call) => /create|secret [pd]/.test(call))).toEqual([]);
    expect(calls).toContain("deploy");
  });

  it("goes on where it was cut off, and leaves no secret behind", async () => {
    await writeAccount({ ...(await readAccount()), failures: 1 });
    expect(await deploy("--yes")).toMatchObject({ code: 10, err: expect.stringContaining("The upload failed.") });
    const second = await deploy("--yes");
    expect(second, second.err).toMatchObject({ code: 0 });
    const { calls, databases, ...account } = await readAccount();
    expect(calls.filter((call) => call.includes("create"))).toEqual([
      "d1 create millrace",
      "r2 bucket create millrace-artifacts",
    ]);
    expect(databases).toHaveLength(2);
    await writeAccount({ ...account, databases, calls, secrets: { BOOTSTRAP_SECRET: edgeSecret } });
    expect(await deploy("--yes")).toMatchObject({ code: 0 });
    expect((await readAccount()).secrets).toEqual({});
  });

  it("prints its plan with --dry-run, and changes nothing", async () => {
    const { code, out } = await deploy("--name", "another", "--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("deploy to the account of who@lab.example, Lab");
    expect(out).toContain("use the R2 bucket another-artifacts");
    expect(out).toContain('+ database_id = "0d0d0d0d-1111-4222-8333-444455556666"');
    expect(out).toContain('- name = "millrace"\n     + name = "another"');
    expect(await readSettings()).toBe(await readFile(join(root, "wrangler.toml"), "utf8"));
    expect((await readAccount()).calls).toEqual(["whoami --json", "r2 bucket list", "d1 list --json"]);
    await writeAccount({ ...(await readAccount()), email: null });
    const unknown = await deploy("--dry-run", "--json");
    expect(JSON.parse(unknown.out)).toMatchObject({ loggedIn: false, steps: expect.any(Array) });
  });

  it("changes nothing where nobody is logged in, or nobody said yes", async () => {
    expect(await deploy()).toMatchObject({ code: expect.any(Number), err: expect.stringContaining("say --yes") });
    expect(await deploy("--name", "Lab_1", "--yes")).toMatchObject({
      err: expect.stringContaining("lower-case letters"),
    });
    await writeAccount({ ...(await readAccount()), email: null });
    const unknown = await deploy("--yes");
    expect(unknown.code).not.toBe(0);
    expect(unknown.err).toContain("wrangler login");
    expect((await readAccount()).calls.filter((call) => /create|deploy|put/.test(call))).toEqual([]);
    expect(await readSettings()).toBe(await readFile(join(root, "wrangler.toml"), "utf8"));
  });
});
