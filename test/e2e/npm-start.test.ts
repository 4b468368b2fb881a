import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Summary } from "../../src/local/summary.ts";
import { readLockfile } from "../../src/local/supply/lockfile.ts";
import { childPids } from "../process/child-pids.ts";
import { waitFor } from "./local-stack.ts";
import { type Finished, npmStart, root, run, startArguments } from "./run-npm.ts";

/** Time limit of a first start, which compiles and calibrates, on a machine that is several times slower. */
const PATIENCE_MS = 1_200_000;

describe("npm start", { timeout: PATIENCE_MS }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-start-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("goes the whole way with the packages for running alone, and finds its state on the second start", async () => {
    const checkout = join(folder, "checkout");
    await copyForRunning(checkout);
    const start = (): Promise<Finished> =>
      run("npm", ["--prefix", checkout, ...startArguments("--once", "--json", "--port", "0", "--data-dir", folder)]);
    const first = await start();
    expect(first.code, first.stderr).toBe(0);
    const summary = JSON.parse(first.stdout) as Summary;
    expect(summary).toMatchObject({
      runner: { software: expect.any(Boolean), device: expect.stringMatching(/./) },
      benchmark: { kernel: "gemm", correct: true, n: 50 },
      inference: { model: "lenet5@1", budgetMet: true },
    });
    expect(summary.benchmark?.gflops).toBeGreaterThan(0);
    expect(summary.inference?.label).toBe(summary.inference?.expected);
    expect(summary.history.points).toBeGreaterThanOrEqual(summary.history.series);
    const key = (await readFile(join(folder, "admin.key"), "utf8")).trim();
    expect(first.stderr).toContain(key);
    expect((await stat(join(folder, "admin.key"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "runner", "credential.json"))).mode & 0o777).toBe(0o600);

    const second = await start();
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).not.toContain(key);
    const again = JSON.parse(second.stdout) as Summary;
    expect(again.history.points).toBeGreaterThan(summary.history.points);
    expect(again.runner?.id).toBe(summary.runner?.id);
    expect(again.inference?.model).toBe("lenet5@1");
    // Page and edge are built besides.
  });

  it("stops all its processes on Ctrl-C", async () => {
    const child = spawn("npm", ["start", "--silent", "--", "--port", "0", "--data-dir", folder], {
      cwd: root,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const isServing = async () => {
      if (child.exitCode !== null) throw new Error(stderr);
      return stderr.includes("Serving.") ? true : undefined;
    };
    await waitFor("millrace to serve", isServing, PATIENCE_MS);
    const group = child.pid ?? 0;
    expect(await membersOf(group)).toBeGreaterThanOrEqual(4);
    // A terminal sends Ctrl-C to the whole group.
    process.kill(-group, "SIGINT");
    await once(child, "exit");
    await waitFor("every process to end", async () => ((await membersOf(group)) === 0 ? true : undefined));
  });

  it("takes over from one that was killed, and leaves no process of it", async () => {
    const options = ["--port", "0", "--no-runner", "--data-dir", join(folder, "killed")];
    const child = spawn(process.execPath, [join(root, "src/local/main.ts"), ...options], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    await waitFor("millrace to serve", async () => {
      if (child.exitCode !== null) throw new Error(stderr);
      return stderr.includes("Serving.") ? true : undefined;
    });
    const [workerd = 0] = await childPids(child.pid ?? 0);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isThere(workerd)).toBe(true);
    const next = await npmStart("--once", "--json", ...options);
    expect(next.code, next.stderr).toBe(0);
    // It is gone once its new parent has noticed.
    await expect.poll(() => isThere(workerd)).toBe(false);
  });

  it("says in a sentence what is wrong", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const onTakenPort = await npmStart("--once", "--port", String(port), "--data-dir", folder);
    taken.close();
    expect(onTakenPort).toMatchObject({ code: 1, stderr: expect.stringContaining(`Port ${port} is taken`) });
    const file = join(folder, "a-file");
    await writeFile(file, "");
    const onReadOnly = await npmStart("--once", "--port", "0", "--data-dir", join(file, "inside"));
    expect(onReadOnly).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be written") });
    const onWrongPort = await npmStart("--port", "eighty");
    expect(onWrongPort).toMatchObject({ code: 1, stderr: expect.stringContaining("must be a port") });
    const old =
      "Object.defineProperty(process.versions, 'node', { value: '18.20.4' }); await import('./src/local/start.mjs')";
    const onOldNode = await run(process.execPath, ["--input-type=module", "-e", old]);
    expect(onOldNode).toMatchObject({ code: 1, stderr: expect.stringContaining("Node 18.20.4 is too old") });
  });

  it("serves the edge alone with --no-runner", async () => {
    const alone = await npmStart("--once", "--json", "--no-runner", "--port", "0", "--data-dir", join(folder, "alone"));
    expect(alone.code, alone.stderr).toBe(0);
    expect(JSON.parse(alone.stdout)).toMatchObject({ runner: null, benchmark: null, inference: null });
  });

  it("goes its way without a GPU, but for the benchmark, and says what is missing", async () => {
    // Its models are placed since the first start.
    const options = startArguments("--once", "--port", "0", "--data-dir", folder);
    const { code, stdout, stderr } = await run("npm", options, { MILLRACE_GPU: "none" });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/benchmark +none: the runner has no GPU.*MILLRACE_GPU/);
    expect(stdout).toContain("lenet5@1 saw a");
  });

  it("is what `millrace up` does, with its options and its exit code", async () => {
    const up = (...options: string[]) => run(process.execPath, [join(root, "src/cli/main.ts"), "up", ...options]);
    const alone = await up("--once", "--json", "--no-runner", "--port", "0", "--data-dir", join(folder, "up"));
    expect(alone.code, alone.stderr).toBe(0);
    expect(JSON.parse(alone.stdout)).toMatchObject({ edge: expect.stringMatching(/^http:/), runner: null });
    expect(await up("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--data-dir") });
    expect(await up("--port", "eighty")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must be a number"),
    });
    const file = join(folder, "no-folder");
    await writeFile(file, "");
    const onFile = await up("--once", "--port", "0", "--data-dir", join(file, "inside"));
    expect(onFile).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be written") });
  });
});

/** A checkout in which nothing is built, and none but the packages that `npm ci --omit=dev` installs are in reach. */
async function copyForRunning(checkout: string): Promise<void> {
  const settings = ["package.json", "package-lock.json", "tsconfig.base.json", "wrangler.toml"];
  const files = [...settings, "src", "kernels", "models", "migrations"];
  for (const file of files) await cp(join(root, file), join(checkout, file), { recursive: true });
  const { packages } = await readLockfile(join(root, "package-lock.json"));
  const needed = packages.filter(({ path, dev, name }) => !dev && path === `node_modules/${name}`);
  for (const { path } of needed) {
    await mkdir(dirname(join(checkout, path)), { recursive: true });
    await symlink(join(root, path), join(checkout, path));
  }
  // Commands of the others lead nowhere.
  await cp(join(root, "node_modules/.bin"), join(checkout, "node_modules/.bin"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await writeFile(join(checkout, "node_modules/.package-lock.json"), JSON.stringify({ packages: {} }));
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

async function membersOf(group: number): Promise<number> {
  const { stdout } = await run("ps", ["-eo", "pgid="]);
  return stdout.split("\n").filter((line) => Number(line) === group).length;
}
