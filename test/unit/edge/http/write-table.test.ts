import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { tableOf, writeTable } from "../../../../src/edge/http/write-table.ts";
import { fc } from "../../property.ts";

const row = fc.record({
  text: fc.option(fc.string({ unit: "grapheme" })),
  number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  integer: fc.option(fc.maxSafeInteger()),
  isTrue: fc.option(fc.boolean()),
  at: fc.option(
    fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
  ),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

const toTable = (rows: readonly Row[]) =>
  tableOf(rows, [
    ["text", "text", ({ text }) => text],
    ["number", "number", ({ number }) => number],
    ["integer", "integer", ({ integer }) => integer],
    ["isTrue", "boolean", ({ isTrue }) => isTrue],
    ["at", "time", ({ at }) => at],
  ]);

/** RFC 4180 read backwards: fields by line, quotes taken off. */
function readCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain = "", end = ""] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") lines.push([]);
  }
  return lines.slice(0, -1);
}

describe("a table", () => {
  it("as CSV gives back every cell", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
        const [header, ...lines] = readCsv(writeTable(toTable(rows), "csv") as string);
        expect(header).toEqual(["text", "number", "integer", "isTrue", "at"]);
        expect(lines).toEqual(
          rows.map(({ text, number, integer, isTrue, at }) => [
            (text ?? "").replace(/^(?=[=+\-@\t\r\n])/, "'"),
            ...[number, integer, isTrue, at].map((cell) => (cell === null ? "" : String(cell))),
          ]),
        );
      }),
    );
  });

  it("as CSV holds no formula, and leaves negative numbers alone", () => {
    const table = tableOf(
      ["=1+1", "+1", "-1", "@a", "\tb", "\rc", "a=1", "plain"],
      [
        ["text", "text", (text) => text],
        ["number", "number", () => -1.5],
      ],
    );
    const [, ...lines] = readCsv(writeTable(table, "csv") as string);
    expect(lines.map(([text]) => text)).toEqual(["'=1+1", "'+1", "'-1", "'@a", "'\tb", "'\rc", "a=1", "plain"]);
    expect(lines.every(([, number]) => number === "-1.5")).toBe(true);
  });

  it("as NDJSON is an object a line", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
        const lines = (writeTable(toTable(rows), "ndjson") as string).split("\n");
        expect(lines.pop()).toBe("");
        expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(rows)));
      }),
    );
  });

  it("as Parquet has doubles, integers, truths, times and nulls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
        const file = writeTable(toTable(rows), "parquet") as ArrayBuffer;
        const types = parquetMetadata(file)
          .schema.slice(1)
          .map(({ name, type, converted_type: as }) => [name, type, as]);
        expect(types).toEqual([
          ["text", "BYTE_ARRAY", "UTF8"],
          ["number", "DOUBLE", undefined],
          ["integer", "INT64", undefined],
          ["isTrue", "BOOLEAN", undefined],
          ["at", "INT64", "TIMESTAMP_MILLIS"],
        ]);
        const found = await parquetReadObjects({ file });
        expect(found).toEqual(
          rows.map(({ integer, at, ...rest }) => ({
            ...rest,
            integer: integer === null ? null : BigInt(integer),
            at: at === null ? null : new Date(at),
          })),
        );
      }),
      { numRuns: 50 },
    );
  });
});
