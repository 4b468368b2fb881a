import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { judgeAudit, KnownAdvisory } from "../../../src/local/supply/audit.ts";

const known: KnownAdvisory[] = [
  { id: "GHSA-aaaa-bbbb-cccc", package: "esbuild", reason: "its server is never started" },
];
const advisory = (id: string, name: string) => ({
  source: 1,
  name,
  title: "Something leaks",
  url: `https://github.com/advisories/${id}`,
  severity: "moderate",
  range: "<1",
});
/** As `npm audit --json` prints it: a package in between names the one that is to blame. */
const report = (...found: object[]) => ({
  auditReportVersion: 2,
  vulnerabilities: {
    "drizzle-kit": { name: "drizzle-kit", severity: "moderate", via: ["esbuild"], effects: [], fixAvailable: false },
    esbuild: { name: "esbuild", severity: "moderate", via: found, effects: ["drizzle-kit"], fixAvailable: false },
  },
  metadata: {},
});

describe("an audit", () => {
  it.each([
    undefined,
    {},
    "no",
    { message: "405 Method Not Allowed", statusCode: 405 },
    { error: { code: "ENOTFOUND" } },
  ])("that answers %o says nothing", (answer) => expect(judgeAudit(answer, known)).toEqual({ kind: "unknown" }));

  it("separates explained advisories from others, by advisory and package", () => {
    expect(judgeAudit(report(advisory("GHSA-aaaa-bbbb-cccc", "esbuild")), known)).toEqual({
      kind: "known",
      unexplained: [],
      explained: ["GHSA-aaaa-bbbb-cccc of esbuild"],
      stale: [],
    });
    for (const other of [advisory("GHSA-aaaa-bbbb-dddd", "esbuild"), advisory("GHSA-aaaa-bbbb-cccc", "vite")]) {
      expect(judgeAudit(report(other), known)).toMatchObject({
        unexplained: [expect.stringContaining("(moderate): Something leaks, https://")],
        stale: ["GHSA-aaaa-bbbb-cccc of esbuild"],
      });
    }
  });

  it("of nothing at all leaves explanations over", () => {
    expect(judgeAudit({ vulnerabilities: {} }, known)).toMatchObject({ unexplained: [], stale: [expect.anything()] });
  });

  it("has explanations that can be read", async () => {
    const text = await readFile(join(import.meta.dirname, "../../../.ci/known-advisories.json"), "utf8");
    expect(z.array(KnownAdvisory).parse(JSON.parse(text)).length).toBeGreaterThan(0);
  });
});
