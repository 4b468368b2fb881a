import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyProject, readBlocks, runBlocks, TESTED_WITHIN_MS } from "./run-document.ts";

const EDGE = "http://127.0.0.1:8787";
/** What a newcomer's first start does on a busy machine: it calibrates models, and benchmarks a kernel. */
const STARTS_WITHIN_MS = 900_000;
/** The project in a bare folder, where `npm start` runs as both documents say, with what it takes for granted. */
let folder: string;
let server: ReturnType<typeof spawn>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-newcomer-"));
  await copyProject(folder);
  const [start] = await readBlocks("docs/tour.md");
  expect(start).toBe("npm start\n");
  server = spawn("npm", ["start"], { cwd: folder, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    let stderr = "";
    server.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      if (stderr.includes("Serving.")) resolve();
    });
    server.once("exit", () => reject(new Error(stderr)));
  });
}, STARTS_WITHIN_MS);
afterAll(async () => {
  if (server.exitCode === null) {
    process.kill(-(server.pid ?? 0), "SIGINT");
    await once(server, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

it("does what its tour says, as written", { timeout: TESTED_WITHIN_MS }, async () => {
  const [start, test, ...tour] = await readBlocks("README.md");
  expect(start?.trim()).toBe("npm start");
  expect(test?.trim()).toBe("npm test");
  expect(tour.length).toBeGreaterThanOrEqual(7);
  const { code, stdout, stderr: errors } = await runBlocks(tour, folder);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(stdout).toContain('"status":"ok"');
  expect(stdout).toContain("event: succeeded");
  expect(stdout).toContain('"correct":true');
  expect(stdout).toContain('"state":"valid"');
  expect(stdout).toContain('"name":"textbook-gemm"');
  expect(stdout).toMatch(/"model":"lenet5"[^\n]*"budgetMet":true/);
  expect(stdout).toContain('"name":"low-rank-90"');
  expect(stdout).toContain('"code":"budget-unattainable"');
  expect(stdout).toMatch(/"action":[01]\b/);
  expect(stdout).toContain('"p99"');
  expect(stdout).toContain('"token":"mt_');
  // Problems by name, since a regular expression's failure would show only the start of what was printed.
  expect(stdout.split("\n").filter((line) => /"status":(4(?!22)|5)\d\d/.test(line))).toEqual([]);
});

it("leads a newcomer through docs/tour.md, as written", { timeout: TESTED_WITHIN_MS }, async () => {
  const [, ...tour] = await readBlocks("docs/tour.md");
  expect(tour.length).toBeGreaterThanOrEqual(7);
  // A newcomer has no settings of their own yet.
  const { code, stdout, stderr } = await runBlocks(tour, folder, { XDG_CONFIG_HOME: join(folder, "settings") });
  expect(code, `${stdout}\n${stderr}`).toBe(0);
  expect(stdout).toMatch(/^ok +edge +http:\/\/127\.0\.0\.1:8787 answers/m);
  expect(stdout).toMatch(/^ok +key +valid, with all scopes \(admin\)$/m);
  expect(stdout).toMatch(/^online +local /m);
  expect(stdout).toMatch(/^ +7 +\d/m);
  expect(stdout).toMatch(/refused with exit code \d+/);
  expect(stdout).toMatch(/^ +correct +1000000 elements/m);
  expect(stdout).toMatch(/published +tour-balancer/);
  expect(stdout).toMatch(/verdict +PASS/);
  expect(stdout).toMatch(/^triad /m);
});

it("shows the page and the docs", async () => {
  for (const path of ["/", "/docs"]) {
    const response = await fetch(EDGE + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'self'");
  }
});
