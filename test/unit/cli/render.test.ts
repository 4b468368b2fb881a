import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { latencyBars } from "../../../src/cli/infer/render-answer.ts";
import { distributionLine, sparkline, thinOut } from "../../../src/cli/render/sparkline.ts";
import { formatSize, formatSpan, formatValue } from "../../../src/cli/render/format-values.ts";
import { hasColour } from "../../../src/cli/shell/shell.ts";
import { paint, renderTable } from "../../../src/cli/render/render-table.ts";
import { openProgressLine, renderBar, renderProgress } from "../../../src/cli/render/progress-line.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { createTestShell } from "./test-shell.ts";

describe("colours", () => {
  it("are there on a terminal, unless NO_COLOR or with FORCE_COLOR", () => {
    expect(hasColour({}, true)).toBe(true);
    expect(hasColour({}, false)).toBe(false);
    expect(hasColour({ NO_COLOR: "1" }, true)).toBe(false);
    expect(hasColour({ NO_COLOR: "" }, true)).toBe(true);
    expect(hasColour({ FORCE_COLOR: "1" }, false)).toBe(true);
    expect(hasColour({ FORCE_COLOR: "0" }, true)).toBe(false);
    expect(hasColour({ NO_COLOR: "1", FORCE_COLOR: "1" }, false)).toBe(false);
    expect(hasColour({ TERM: "dumb" }, true)).toBe(false);
  });

  it("leave the width of a table as it is", () => {
    const rows = [
      ["state", "name"],
      ["online", "a"],
      ["draining", "b"],
    ];
    const paintCell = (text: string, row: number, column: number) =>
      row > 0 && column === 0 ? paint({ colour: true }, "good", text) : text;
    const plain = renderTable(rows, 40);
    expect(stripVTControlCharacters(renderTable(rows, 40, paintCell))).toBe(plain);
    expect(renderTable(rows, 40, paintCell)).toContain("\x1b[32monline  \x1b[39m  a");
    expect(paint({ colour: false }, "good", "x")).toBe("x");
  });
});

describe("values", () => {
  it("have four digits that count, and units that fit", () => {
    expect([0.000_123_456, 1.234_56, 999.96, 12_345.6, 0].map(formatValue)).toEqual([
      "0.0001235",
      "1.235",
      "1,000",
      "12,346",
      "0",
    ]);
    expect([0, 1, 1_023, 1_024, 1.5 * 2 ** 20, 2 ** 60, null].map(formatSize)).toEqual([
      "0 B",
      "1 B",
      "1,023 B",
      "1 KiB",
      "1.5 MiB",
      "1,048,576 TiB",
      "–",
    ]);
    expect([200, 89_000, 91_000, 5_400_000, 86_400_000, 40 * 86_400_000].map(formatSpan)).toEqual([
      "0.2 s",
      "89.0 s",
      "2 min",
      "2 h",
      "24 h",
      "40 d",
    ]);
  });
});

describe("a sparkline", () => {
  it("goes from the least value to the largest, with gaps", () => {
    expect(sparkline([1, 2, null, 8])).toBe("▁▂ █");
    expect(sparkline([-5, 0, 5])).toBe("▁▅█");
    expect(sparkline([3, 3])).toBe("▅▅");
    expect(sparkline([])).toBe("");
  });

  it("is thinned to the mean of each share", () => {
    expect(thinOut([1, 3, 5, 7], 2)).toEqual([2, 6]);
    expect(thinOut([1, 2], 5)).toEqual([1, 2]);
    expect(thinOut([1, 2, 3, 4, 5, 6, 7], 3)).toHaveLength(3);
  });

  it("shows where a distribution has its values", () => {
    const twoHumps = [...Array.from({ length: 90 }, () => 1), ...Array.from({ length: 10 }, () => 100)];
    const line = distributionLine(summarise(twoHumps), "ms");
    expect(line).toMatch(/^p50 1 {2}p95 100 {2}p99 100 ms {2}n 100 {2}1 █▁{14}. 100$/);
    expect(line.at(-5)).not.toBe("▁");
    expect(distributionLine(summarise([2, 2, 2]), "ms")).toBe("p50 2  p95 2  p99 2 ms  n 3");
    expect(distributionLine(summarise([0, 5]), "ms")).toBe("p50 5  p95 5  p99 5 ms  n 2");
  });
});

describe("progress", () => {
  it("is a bar to an eighth of a column, no wider than the terminal", () => {
    expect(renderBar(0, 4)).toBe("    ");
    expect(renderBar(0.5, 4)).toBe("██  ");
    expect(renderBar(1 / 32, 4)).toBe("▏   ");
    expect(renderBar(7, 2)).toBe("██");
    const progress = { what: "measuring", done: 1, total: 4, note: "a note" };
    expect(renderProgress(progress, 2_000, 80)).toBe(
      `measuring ${"█".repeat(6)}${" ".repeat(18)} 25 % 1/4 · a note · 2.0 s`,
    );
    expect(renderProgress(progress, 2_000, 20)).toHaveLength(20);
    expect(renderProgress({ what: "queued", done: 0, total: 0 }, 0, 80)).toBe("queued · 0.0 s");
  });

  it("is drawn over on a terminal, printed line by line elsewhere, and left out where not wanted", () => {
    const steps = [
      { what: "load", done: 0, total: 2 },
      { what: "load", done: 1, total: 2 },
      { what: "measure", done: 0, total: 0 },
    ];
    const [terminal, pipe, quiet] = [createTestShell({ warnColumns: 60 }), createTestShell(), createTestShell()];
    for (const [shell, wanted] of [
      [terminal, true],
      [pipe, true],
      [quiet, false],
    ] as const) {
      const line = openProgressLine(shell, wanted);
      for (const step of steps) line.show(step);
      line.clear();
      expect(shell.ended().out).toBe("");
    }
    expect(pipe.ended().err).toBe("load\nmeasure\n");
    expect(quiet.ended().err).toBe("");
    const drawn = terminal.ended().err.split("\r\x1b[K");
    expect(drawn[1]).toMatch(/^load /);
    expect(drawn[2]).toMatch(/^load .* 50 % 1\/2/);
    expect(drawn[3]).toMatch(/^measure/);
    expect(drawn.at(-1)).toBe("");
    expect(terminal.ended().err).not.toContain("\n");
  });
});

describe("the bars of a latency", () => {
  const split = { totalMs: 10, edgeMs: 1, linkMs: 2, queueMs: 0, uploadMs: 0.01, computeMs: 4, readbackMs: 3 };

  it("begin where the one before ended, and show whatever took any time", () => {
    const bars = latencyBars(split);
    expect(bars.map(([name]) => name)).toEqual(["edge", "link", "queue", "upload", "compute", "readback"]);
    const spans = bars.map(([, text]) => {
      const bar = text.slice(0, 40);
      return [bar.indexOf("█"), bar.lastIndexOf("█") + 1, bar.length];
    });
    expect(spans).toEqual([
      [0, 4, 40],
      [4, 12, 40],
      [-1, 0, 40],
      [12, 13, 40],
      [12, 28, 40],
      [28, 40, 40],
    ]);
    expect(bars[4]?.[1]).toMatch(/ {2}4 ms$/);
  });

  it("stay within the line where nothing or the last part alone took time", () => {
    const nothing = { ...split, edgeMs: 0, linkMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 };
    for (const [, text] of latencyBars(nothing)) expect(text).toBe(`${"·".repeat(40)}  0 ms`);
    const tail = latencyBars({ ...nothing, edgeMs: 1e4, readbackMs: 1e-6 });
    expect(tail[5]?.[1].slice(0, 40)).toBe(`${"·".repeat(39)}█`);
  });
});
