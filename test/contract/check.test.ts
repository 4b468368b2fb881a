import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type LiveEdge, startLiveEdge } from "./live-edge.ts";

/** `millrace check` as a program, against a deployed edge, with a workflow's reports. */

const PROGRAM = join(import.meta.dirname, "../../src/cli/main.ts");
let edge: LiveEdge;
let folder = "";

beforeAll(async () => {
  edge = await startLiveEdge();
  folder = await mkdtemp(join(tmpdir(), "millrace-check-"));
});
afterAll(async () => {
  await edge.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Reports runs that are a little apart from one another, as runs are. */
async function report(label: string, levelMs: number, runs: number): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const values = Array.from({ length: 20 }, (_, i) => levelMs * (1 + ((7 * run) % 5) / 500 + ((3 * i) % 20) / 1_000));
    const measurements = [{ subject: "sort 1000000", metric: "wallMs", unit: "ms", values }];
    const at = new Date(Date.parse("2026-03-01T00:00:00Z") + run * 3_600_000).toISOString();
    const body = { run: `${label}-${run}`, at, label, revision: `${label}-commit`, measurements };
    await edge.client.call(endpoints.reportPoints, { body });
  }
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function millrace(...args: string[]): Promise<Ended> {
  const env = { ...process.env, MILLRACE_EDGE: edge.url, MILLRACE_KEY: edge.key };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [PROGRAM, ...args], { env })) };
  } catch (error) {
    return error as Ended;
  }
}

describe("millrace check", () => {
  it("passes as long as a change is no slower, fails where it is, and says what it could not judge", async () => {
    await report("main", 10, 8);
    await report("fine", 9.9, 5);
    await report("slow", 12, 5);
    await report("once", 13, 1);
    const fine = await millrace("check", "--candidate", "label:fine");
    expect(fine).toMatchObject({ code: 0, stderr: "" });
    expect(fine.stdout).toMatch(/^### No regression beyond 5 %, 1 series: 1 passed/);

    const [junit, markdown] = [join(folder, "check.xml"), join(folder, "check.md")];
    const files = ["--junit", junit, "--markdown", markdown];
    const slow = await millrace("check", "--candidate", "label:slow;revision:slow-commit", ...files);
    expect(slow.code).toBe(1);
    expect(slow.stdout).toContain("| **regression** | sort 1000000 wallMs |");
    expect(await readFile(markdown, "utf8")).toBe(slow.stdout);
    expect(await readFile(junit, "utf8")).toContain('<failure type="regression" message="worse by more than 5 %">');

    // One run against the history of the others.
    expect((await millrace("check", "--label", "once")).code).toBe(1);
    const unjudged = await millrace("check", "--baseline", "nobody", "--candidate", "label:slow", "--require-evidence");
    expect(unjudged.code).toBe(3);
    expect(unjudged.stderr).toContain("NOT JUDGED: sort 1000000 wallMs");
  });

  it("ends with 2 where it cannot ask", async () => {
    const nothing = await millrace("check", "--candidate", "label:nobody");
    expect(nothing).toMatchObject({ code: 2 });
    expect(nothing.stderr).toContain("no measurements");
    const refused = await millrace("check", "--key", "mk_unknown");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(await millrace("check", "--max-regression", "much")).toMatchObject({ code: 2, stdout: "" });
    const wrong = await millrace("check", "--candidate", "branch:main");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("query/b");
  });
});

describe("millrace compare", () => {
  it("prints the comparison", async () => {
    const { code, stdout } = await millrace("compare", "label:main", "label:slow", "--subject", "sort 1000000");
    expect(code).toBe(0);
    expect(stdout).toMatch(/worse +sort 1000000 wallMs +10\.\d+ ms \(8 runs\) +12\.\d+ ms \(5 runs\)/);
  });
});
