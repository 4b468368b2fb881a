import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exitCodeOf, type Gate, headlineOf, judgePairs } from "../../../src/cli/check/judge-pairs.ts";
import { renderJunit, renderMarkdown } from "../../../src/cli/check/render-check.ts";
import { renderTable } from "../../../src/cli/render/render-table.ts";
import { runProgram } from "../../../src/cli/program.ts";
import type { ComparedPair, ComparisonReply } from "../../../src/protocol/history/comparison.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { lonely, samplePair, sampleReply } from "./comparison-sample.ts";
import { readXml } from "./read-xml.ts";
import { createTestShell } from "./test-shell.ts";

const gate: Gate = { maxRegression: 0.05, requireEvidence: false, allowUnclear: false };
const judge = (pair: ComparedPair) => judgePairs(sampleReply([pair]), gate)[0]?.outcome;

const unclear = (low: number, high: number) =>
  samplePair("wallMs", (low + high) / 2, {
    verdict: "unclear",
    ratio: { value: (low + high) / 2, interval: { low, high } },
  });
const samples = samplePair("wallMs", 3, { observation: "samples" });

describe("a judgement", () => {
  it("is a regression only where it is certain and beyond the limit", () => {
    expect(judge(samplePair("wallMs", 1.1))).toBe("regression");
    expect(judge(samplePair("wallMs", 1.04))).toBe("passed");
    expect(judge(samplePair("wallMs", 0.5))).toBe("passed");
    expect(judge(samplePair("wallMs", 1.5, { verdict: "unclear" }))).toBe("unclear");
    expect(judge(samplePair("wallMs", 1.001, { verdict: "same" }))).toBe("passed");
  });

  it("reports the weaknesses of a regression", () => {
    const [judgement] = judgePairs(sampleReply([samplePair("wallMs", 1.1, { warnings: ["One run."] })]), gate);
    expect(judgement?.reason).toBe("worse by more than 5 %; One run.");
  });

  it("knows which way is worse, below zero too", () => {
    const key = { ...samplePair("rate", 1).key, direction: "higher" as const };
    expect(judge(samplePair("rate", 0.9, { key, verdict: "worse" }))).toBe("regression");
    expect(judge(samplePair("rate", 1.1, { key, verdict: "better" }))).toBe("passed");
    const { a, b } = samplePair("score", 1);
    const below = {
      a: { ...a, value: -10 },
      b: { ...b, value: -12 },
      difference: { value: -2, interval: { low: -2.2, high: -1.8 } },
    };
    expect(judge(samplePair("score", 1.2, { ...below, key, verdict: "worse" }))).toBe("regression");
    const fromZero = { a: { ...a, value: 0 }, ratio: null, difference: { value: 1, interval: null } };
    expect(judge(samplePair("faults", 1, { ...fromZero, verdict: "worse" }))).toBe("regression");
  });

  it("is unclear only where a regression beyond the limit is not excluded", () => {
    expect(judge(unclear(0.97, 1.04))).toBe("passed");
    expect(judge(unclear(0.97, 1.08))).toBe("unclear");
  });

  it("is insufficient for samples within runs and for what has no baseline", () => {
    expect(judge(samples)).toBe("insufficient");
    const judgements = judgePairs(sampleReply([], [lonely("new", "no-partner"), lonely("other", "no-runs")]), gate);
    expect(judgements.map(({ name, outcome }) => [name, outcome])).toEqual([["sort new n=1000", "insufficient"]]);
  });

  it("ends with 0, 1, 2 or 3", () => {
    const code = (reply: ComparisonReply, change: Partial<Gate> = {}) =>
      exitCodeOf(judgePairs(reply, { ...gate, ...change }), { ...gate, ...change });
    const strict = { requireEvidence: true };
    expect(code(sampleReply([samplePair("a", 1.01)]))).toBe(0);
    expect(code(sampleReply([samplePair("a", 1.01), samplePair("b", 1.2)]), strict)).toBe(1);
    expect(code(sampleReply([]))).toBe(2);
    expect(code(sampleReply([samples]))).toBe(0);
    expect(code(sampleReply([samples]), strict)).toBe(3);
    expect(code(sampleReply([], [lonely("new", "no-partner")]), strict)).toBe(3);
    expect(code(sampleReply([unclear(0.9, 1.2)]))).toBe(0);
    expect(code(sampleReply([unclear(0.9, 1.2)]), strict)).toBe(3);
    expect(code(sampleReply([unclear(0.9, 1.2)]), { ...strict, allowUnclear: true })).toBe(0);
    expect(code(sampleReply([samples]), { ...strict, allowUnclear: true })).toBe(3);
  });

  it("is summed up in a line that hides nothing", () => {
    const reply = sampleReply([samplePair("a", 1.2), unclear(0.9, 1.2), samples, samplePair("d", 1)]);
    expect(headlineOf(judgePairs(reply, gate), gate)).toBe(
      "1 regression beyond 5 %, 4 series: 1 passed, 1 unclear, 1 NOT JUDGED for want of history",
    );
  });
});

const nasty = samplePair("wall|Ms", 1.2, {
  key: { ...samplePair("x", 1).key, subject: "<b> & \"q\" 'a' | @team `c` ]]> \u{0}\u{d800}é😀", metric: "wall|Ms" },
  summary: "B < A & so on ]]>",
});

describe("Markdown", () => {
  it("has as many cells in each row as in its head, whatever a name holds", () => {
    const reply = sampleReply([nasty, samplePair("b", 1)], [lonely("new", "no-partner")]);
    const text = renderMarkdown(reply, judgePairs(reply, gate), gate);
    const rows = text.split("\n").filter((line) => line.startsWith("|"));
    expect(rows).toHaveLength(5);
    for (const row of rows) expect(row.replaceAll(/\\./g, "").match(/\|/g)).toHaveLength(8);
    expect(text).toContain(String.raw`\<b\>`);
    expect(text).not.toContain("@team");
    expect(text.split("\n")[0]).toBe(
      "### 1 regression beyond 5 %, 3 series: 1 passed, 1 NOT JUDGED for want of history",
    );
    expect(rows[2]).toContain("**regression**");
    expect(rows[2]).toContain("+20 % (+18 to +22)");
    expect(text).toContain("it is the label of that name");
  });
});

describe("JUnit", () => {
  it("is well-formed XML of a case per series, whatever a name holds", () => {
    const reply = sampleReply([nasty, samplePair("b", 1), samples], [lonely("new", "no-partner")]);
    const judgements = judgePairs(reply, gate);
    const [suites] = readXml(renderJunit(judgements));
    const [suite] = suites?.children ?? [];
    expect(suite?.attributes).toMatchObject({ tests: "4", failures: "1", skipped: "2", errors: "0" });
    const cases = suite?.children ?? [];
    expect(cases.map(({ name }) => name)).toEqual(Array.from({ length: 4 }, () => "testcase"));
    expect(cases.map(({ children }) => children[0]?.name)).toEqual(["failure", "skipped", "skipped", "system-out"]);
    expect(cases[0]?.attributes["classname"]).toBe("<b> & \"q\" 'a' | @team `c` ]]> ��é😀");
    expect(cases[0]?.children[0]?.text).toBe("B < A & so on ]]>");
    expect(cases[0]?.children[0]?.attributes["message"]).toBe("worse by more than 5 %");
  });
});

describe("a table", () => {
  const rows = [
    ["", "series", "A"],
    ["regression", "a name that is far too long for this terminal", "10 ms"],
    ["passed", "short", "9 ms"],
  ];

  it("fits the terminal, and is whole without one", () => {
    for (const columns of [40, 60]) {
      const lines = renderTable(rows, columns).trimEnd().split("\n");
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      expect(lines[1]).toMatch(/^regression {2}a name.*… {2}10 ms$/);
    }
    expect(renderTable(rows, undefined)).toContain("far too long for this terminal  10 ms");
  });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly asked: URL | undefined;
  readonly authorization: string | null;
}

async function run(
  args: readonly string[],
  reply: ComparisonReply | Response | Error,
  { command = "check", columns }: { command?: string; columns?: number } = {},
): Promise<Ran> {
  let asked: URL | undefined;
  let authorization: string | null = null;
  const shell = createTestShell({
    columns,
    fetch: (async (url: string, init?: RequestInit) => {
      asked = new URL(url);
      authorization = new Headers(init?.headers).get("authorization");
      if (reply instanceof Error) throw reply;
      return reply instanceof Response ? reply : Response.json(reply);
    }) as typeof fetch,
  });
  await runProgram([command, ...args], shell);
  return { ...shell.ended(), asked, authorization };
}

describe("millrace check", () => {
  it("asks for the latest run against the baseline, and for what was selected", async () => {
    const args = ["--edge", "http://edge.test", "--key", "mk_x", "--label", "a/b", "--metric", "wallMs"];
    const plain = await run(args, sampleReply([samplePair("wallMs", 1)]));
    expect(plain.asked?.pathname).toBe("/v1/history/compare");
    expect(Object.fromEntries(plain.asked?.searchParams ?? [])).toEqual({
      a: "baseline:main;last:30",
      b: "last:1",
      statistic: "p50",
      confidence: "0.95",
      label: "a/b",
      metric: "wallMs",
    });
    expect(plain.authorization).toBe("Bearer mk_x");
    expect(plain).toMatchObject({ code: 0, err: "" });
    const other = await run(
      ["--baseline", "revision:abc", "--candidate", "revision:def", "--history", "7", "--configuration", "m=1,n=2"],
      sampleReply([samplePair("wallMs", 1)]),
    );
    expect(Object.fromEntries(other.asked?.searchParams ?? [])).toMatchObject({
      a: "revision:abc;last:7",
      b: "revision:def",
      configuration: "m=1,n=2",
    });
  });

  it("ends with 1 for a regression, and its limit can be moved", async () => {
    const reply = sampleReply([samplePair("wallMs", 1.2)]);
    const failed = await run([], reply);
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.out).toMatch(/^### 1 regression beyond 5 %/);
    expect(await run(["--max-regression", "25%"], reply)).toMatchObject({ code: 0 });
  });

  it("says loudly what it could not judge, and fails by it only where that is asked for", async () => {
    const reply = sampleReply([], [lonely("new", "no-partner")]);
    const passed = await run([], reply);
    expect(passed).toMatchObject({ code: 0 });
    expect(passed.err).toBe("NOT JUDGED: sort new n=1000: the baseline has no such series, or no runs of it\n");
    expect(await run(["--require-evidence"], reply)).toMatchObject({ code: 3 });
  });

  it("ends with 2 for wrong options, a problem, no edge and no measurements", async () => {
    const nothing = sampleReply([]);
    for (const args of [
      ["--max-regression", "5"],
      ["--history", "0"],
      ["--colour", "red"],
      ["--statistic", "p12"],
    ])
      expect(await run(args, nothing), args.join(" ")).toMatchObject({ code: 2, asked: undefined });
    const problem = createProblem("unauthorized", "The key is unknown.");
    const refused = await run([], Response.json(problem, { status: 401 }));
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.err).toContain("The key is unknown.");
    expect(await run([], new TypeError("no route"))).toMatchObject({ code: 2 });
    expect(await run([], Response.json({ pairs: "none" }))).toMatchObject({ code: 2 });
    const empty = await run([], nothing);
    expect(empty).toMatchObject({ code: 2 });
    expect(empty.err).toContain("no measurements");
  });

  it("shows a table on a terminal, JSON where that is asked for, and writes files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "check-"));
    try {
      const [junit, markdown] = [join(folder, "check.xml"), join(folder, "check.md")];
      const reply = sampleReply([samplePair("wallMs", 1.2)]);
      const shown = await run(["--junit", junit, "--markdown", markdown], reply, { columns: 80 });
      expect(shown.out).toMatch(/^ +series/);
      for (const line of shown.out.split("\n").slice(0, 2)) expect(line.length).toBeLessThanOrEqual(80);
      expect(readXml(await readFile(junit, "utf8"))[0]?.name).toBe("testsuites");
      expect(await readFile(markdown, "utf8")).toBe((await run([], reply)).out);
      const json = JSON.parse((await run(["--json"], reply)).out);
      expect(json).toMatchObject({ exitCode: 1, maxRegression: 0.05, judgements: [{ outcome: "regression" }] });
      expect(json.comparison).toEqual(reply);
      expect((await run(["--junit", join(folder, "no/such.xml")], reply)).code).toBe(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("millrace compare", () => {
  it("prints both sides, what has no partner, and what the figures rest on", async () => {
    const reply = sampleReply([samplePair("wallMs", 1.2, { warnings: ["Beware."] })], [lonely("new", "no-partner")]);
    const { out, asked } = await run(["label:main", "label:change"], reply, { command: "compare" });
    expect(asked?.searchParams.get("b")).toBe("label:change");
    expect(out).toMatch(
      /B is worse +sort wallMs n=1000 +10 ms \(20 runs\) +12 ms \(12 runs\) +\+20 % \(\+18 to \+22\)/,
    );
    expect(out).toContain("Only B (no series of the other side is alike): sort new n=1000 change\n");
    expect(out).toContain("sort wallMs n=1000: Beware.\n");
    expect(out).toContain("A note.\n");
  });
});
