import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ConformanceReport } from "../../../src/cli/conformance/render-report.ts";
import { type ApartEnd, runApart } from "../../../src/cli/shell/run-apart.ts";
import { type Faults, startFaultyServer } from "./faulty-server.ts";

const root = join(import.meta.dirname, "../../..");
const PROGRAM = join(root, "src/cli/main.ts");
const DEADLINE = ["--deadline", "header:x-deadline-ms:ms"];
/**
 * Wide beside the pauses of a busy machine, and narrow beside the faults, which make nearly all late; short enough for a
 * test.
 */
const SHORT = ["--deadline-ms", "600", "--tolerance-ms", "200", "--overload-s", "4", "--late-share", "0.25"];
/** Runs of one command, which says by itself where the machine was too busy for a verdict. */
const TRIES = 8;

/** The command's end at a server with these faults, as a process of its own. */
async function judge(faults: Faults, ...args: string[]): Promise<ApartEnd> {
  const server = await startFaultyServer(faults);
  try {
    return await runApart(process.execPath, [PROGRAM, "conformance", "--url", server.url, "--path", "/work", ...args]);
  } finally {
    await server.stop();
  }
}

/** Verdict on one property, with its reason. */
async function verdictOf(property: string, faults: Faults, ...args: string[]): Promise<string> {
  for (let left = TRIES; ; left--) {
    const { stdout, stderr } = await judge(faults, "--only", property, "--json", ...SHORT, ...args);
    expect(stderr).toBe("");
    const [judged] = (JSON.parse(stdout) as ConformanceReport).properties;
    expect(judged?.property).toBe(property);
    if (judged!.verdict !== "untold" || left === 1) return `${judged!.verdict}: ${judged!.sentence}`;
  }
}

const KEY = ["--retry-key", "header:idempotency-key"];

describe("the conformance suite", () => {
  it.concurrent.each(["expiry", "refusal", "work", "cancellation", "barging", "recovery", "retries"])(
    "passes %s of a server that keeps everything",
    { timeout: 300_000 },
    async (property) => {
      expect(await verdictOf(property, {}, ...DEADLINE)).toMatch(/^passed/);
    },
  );

  it.concurrent.each<[string, string, Faults, string[]]>([
    ["an expiry that comes late", "expiry", { admitsAll: true, expiryDelayMs: 800 }, DEADLINE],
    ["queueing instead of refusing", "refusal", { admitsAll: true }, DEADLINE],
    ["work after the deadline", "work", { admitsAll: true, worksOn: true }, DEADLINE],
    ["work after the connection closed", "cancellation", { ignoresClose: true }, DEADLINE],
    ["the newest request first", "barging", { newestFirst: true }, DEADLINE],
    ["a backlog that outlasts the overload", "recovery", { admitsAll: true, worksOn: true }, DEADLINE],
    ["retries of closed connections done twice", "retries", { ignoresClose: true }, DEADLINE],
    ["retries under one key done twice", "retries", { forgetsKeys: true }, [...DEADLINE, ...KEY]],
  ])("fails a server for %s", { timeout: 300_000 }, async (_, property, faults, args) => {
    expect(await verdictOf(property, faults, ...args)).toMatch(/^failed/);
  });

  it.concurrent("passes retries under one key that are done once", { timeout: 300_000 }, async () => {
    expect(await verdictOf("retries", {}, ...DEADLINE, ...KEY)).toMatch(/^passed/);
  });

  it.concurrent(
    "cannot tell what a server without deadlines keeps, and ends with 3",
    { timeout: 300_000 },
    async () => {
      const { code, stdout } = await judge({}, "--deadline", "none", "--only", "expiry,work", "--json");
      const { properties } = JSON.parse(stdout) as ConformanceReport;
      expect(properties.map(({ verdict }) => verdict)).toEqual(["untold", "untold"]);
      expect(code).toBe(3);
    },
  );

  it.concurrent(
    "stops at its limit of requests, and judges nothing that it cut short",
    { timeout: 300_000 },
    async () => {
      const { code, stdout } = await judge(
        {},
        ...DEADLINE,
        "--json",
        "--max-requests",
        "1000",
        "--only",
        "refusal,retries",
      );
      const { properties, requests } = JSON.parse(stdout) as ConformanceReport;
      expect(requests).toBeLessThanOrEqual(1_000);
      expect(properties.map(({ sentence }) => sentence)).toEqual(
        Array(2).fill("The run ended before: --max-requests 1000 was reached."),
      );
      expect(code).toBe(3);
    },
  );

  it.concurrent(
    "says what is wrong with a request, or with an address where nobody is",
    { timeout: 300_000 },
    async () => {
      const body = join(await mkdtemp(join(tmpdir(), "millrace-conformance-")), "body.json");
      await writeFile(body, "{");
      expect(await judge({}, "--deadline", "triton", "--body", body)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("holds no JSON"),
      });
      const nobody = ["--url", "http://127.0.0.1:9", "--path", "/", "--deadline", "none"];
      const end = await runApart(process.execPath, [PROGRAM, "conformance", ...nobody]);
      expect(end).toMatchObject({ code: 10, stderr: expect.stringContaining("cannot be reached") });
    },
  );
});
