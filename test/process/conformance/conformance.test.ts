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
const TOLERANCE_MS = 250;
/**
 * Wide beside the delays of a busy machine, and narrow beside the faults, which make nearly all late; short enough for a
 * test.
 */
const SHORT = `--deadline-ms 1000 --tolerance-ms ${TOLERANCE_MS} --overload-s 4 --late-share 0.25`.split(" ");
/** Of one overload, as many requests as tell a share of 1 %. */
const MANY = ["--overload-s", "25"];
/** Runs of one command, which says by itself where the machine was too busy for a verdict. */
const TRIES = 12;
const TIMEOUT_MS = 1_500_000;

interface Judged extends ApartEnd {
  /** Whether the server stood still for so long that it broke its promises, or its faults did not show. */
  readonly stoodStill: boolean;
}

/** The command's end at a server with these faults, as a process of its own. */
async function judge(faults: Faults, ...args: string[]): Promise<Judged> {
  const server = await startFaultyServer(faults);
  try {
    const command = [PROGRAM, "conformance", "--url", server.url, "--path", "/work", ...args];
    const end = await runApart(process.execPath, command);
    return { ...end, stoodStill: server.longestStallMs() > TOLERANCE_MS };
  } finally {
    await server.stop();
  }
}

/**
 * Verdict on one property, with its reason. Another one than is expected says nothing of a server that stood still, and
 * is looked for again.
 */
async function verdictOf(
  property: string,
  expected: "passed" | "failed",
  faults: Faults,
  ...args: string[]
): Promise<string> {
  for (let left = TRIES; ; left--) {
    const { stdout, stderr, stoodStill } = await judge(faults, "--only", property, "--json", ...SHORT, ...args);
    expect(stderr).toBe("");
    const [judged] = (JSON.parse(stdout) as ConformanceReport).properties;
    expect(judged?.property).toBe(property);
    const isDoubtful = judged!.verdict === "untold" || (judged!.verdict !== expected && stoodStill);
    if (!isDoubtful || left === 1) return `${judged!.verdict}: ${judged!.sentence}`;
  }
}

const KEY = ["--retry-key", "header:idempotency-key"];

describe("the conformance suite", () => {
  it.concurrent.each(["expiry", "refusal", "work", "cancellation", "barging", "recovery", "retries"])(
    "passes %s of a server that keeps everything",
    { timeout: TIMEOUT_MS },
    async (property) => {
      const many = property === "expiry" ? MANY : [];
      expect(await verdictOf(property, "passed", {}, ...DEADLINE, ...many)).toMatch(/^passed/);
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
  ])("fails a server for %s", { timeout: TIMEOUT_MS }, async (_, property, faults, args) => {
    expect(await verdictOf(property, "failed", faults, ...args)).toMatch(/^failed/);
  });

  it.concurrent("passes retries under one key that are done once", { timeout: TIMEOUT_MS }, async () => {
    expect(await verdictOf("retries", "passed", {}, ...DEADLINE, ...KEY)).toMatch(/^passed/);
  });

  it.concurrent(
    "cannot tell what a server without deadlines keeps, and ends with 3",
    { timeout: TIMEOUT_MS },
    async () => {
      const { code, stdout } = await judge({}, "--deadline", "none", "--only", "expiry,work", "--json");
      const { properties } = JSON.parse(stdout) as ConformanceReport;
      expect(properties.map(({ verdict }) => verdict)).toEqual(["untold", "untold"]);
      expect(code).toBe(3);
    },
  );

  it.concurrent(
    "stops at its limit of requests, and judges nothing that it cut short",
    { timeout: TIMEOUT_MS },
    async () => {
      const limit = ["--max-requests", "300", "--only", "refusal,retries"];
      // Nothing is late within such a deadline, so that more requests are wanted than there may be.
      const patient = ["--deadline-ms", "60000", "--tolerance-ms", "60000"];
      const { code, stdout } = await judge({}, ...DEADLINE, "--json", ...limit, ...patient);
      const { properties, requests } = JSON.parse(stdout) as ConformanceReport;
      expect(requests).toBeLessThanOrEqual(300);
      expect(properties.map(({ sentence }) => sentence)).toEqual(
        Array(2).fill("The run ended before: --max-requests 300 was reached."),
      );
      expect(code).toBe(3);
    },
  );

  it.concurrent(
    "says what is wrong with a request, or with an address where nobody is",
    { timeout: TIMEOUT_MS },
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
