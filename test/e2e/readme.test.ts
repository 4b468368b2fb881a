import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "./local-stack.ts";
import { root, run } from "./run-npm.ts";

const EDGE = "http://127.0.0.1:8787";

/** The README's `sh` blocks in order; what needs an account stands in `console` blocks. */
async function readBlocks(): Promise<string[]> {
  const text = await readFile(join(root, "README.md"), "utf8");
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
}

/** A folder that looks like the project, so that the tour's state is not the developer's own. */
let folder: string;
let server: ReturnType<typeof spawn>;
let stderr = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-readme-"));
  for (const name of ["models", "kernels"]) await symlink(join(root, name), join(folder, name));
  server = spawn("npm", ["start", "--silent", "--prefix", root, "--", "--data-dir", join(folder, ".millrace")], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  server.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await waitFor("millrace to serve", async () => {
    if (server.exitCode !== null) throw new Error(stderr);
    return stderr.includes("Serving.") ? true : undefined;
  });
});
afterAll(async () => {
  if (server.exitCode === null) {
    process.kill(-(server.pid ?? 0), "SIGINT");
    await once(server, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

it("does what its tour says, as written", async () => {
  const [start, test, ...tour] = await readBlocks();
  expect(start?.trim()).toBe("npm start");
  expect(test?.trim()).toBe("npm test");
  expect(tour.length).toBeGreaterThanOrEqual(7);
  const {
    code,
    stdout,
    stderr: errors,
  } = await run("bash", ["-euo", "pipefail", "-c", `cd "${folder}"\n${tour.join("\necho\n")}`]);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(stdout).toContain('"status":"ok"');
  expect(stdout).toContain("event: succeeded");
  expect(stdout).toContain('"correct":true');
  expect(stdout).toContain('"state":"valid"');
  expect(stdout).toContain('"name":"textbook-gemm"');
  expect(stdout).toContain('"budgetMet":true');
  expect(stdout).toContain('"name":"low-rank-90"');
  expect(stdout).toContain('"code":"budget-unattainable"');
  expect(stdout).toMatch(/"action":[01]\b/);
  expect(stdout).toContain('"p99"');
  expect(stdout).toContain('"token":"mt_');
  expect(stdout).not.toMatch(/"status":(4(?!22)|5)\d\d/);
});

it("shows the page and the docs", async () => {
  for (const path of ["/", "/docs"]) {
    const response = await fetch(EDGE + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'self'");
  }
});
