import { DatabaseSync } from "node:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fillSamples } from "../../../../bench/history/fill-samples.ts";
import { createYear } from "../../../../bench/history/measured-year.ts";
import { checkAnswer, computeAnswer, QUESTIONS } from "../../../../bench/history/questions.ts";
import { bindQuestion, flattenRows, percentileSql, windowSql } from "../../../../bench/history/sample-sql.ts";

const year = createYear(2, 20_000);
let folder: string;
let db: DatabaseSync;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-questions-"));
  fillSamples(join(folder, "samples.sqlite"), year);
  db = new DatabaseSync(join(folder, "samples.sqlite"), { readOnly: true });
});

afterAll(async () => {
  db.close();
  await rm(folder, { recursive: true });
});

test("all samples are rows", () => {
  expect(db.prepare("select count(*) as n, sum(value) as sum from samples").get()).toEqual({
    n: year.samples.length,
    sum: expect.closeTo(
      year.samples.reduce((sum, value) => sum + value, 0),
      3,
    ),
  });
});

test.each(QUESTIONS)("both ways of SQL answer: $name", (question) => {
  const expected = computeAnswer(year, question);
  expect(expected.low.length).toBeGreaterThan(0);
  for (const sqlOf of [windowSql, percentileSql]) {
    checkAnswer(expected, flattenRows(db.prepare(sqlOf(question)).all(...bindQuestion(question))));
  }
});

test("an answer may be off by one percent or one rank, and no more", () => {
  const [question] = QUESTIONS;
  const expected = computeAnswer(year, question!);
  const middle = Float32Array.from(expected.low, (low, index) => (low + expected.high[index]!) / 2);
  checkAnswer(expected, middle);
  checkAnswer(
    expected,
    Float32Array.from(expected.high, (high) => high * 0.9999),
  );
  expect(() => checkAnswer(expected, middle.with(4, expected.high[4]! * 1.001))).toThrow("percentile 4");
  expect(() => checkAnswer(expected, middle.with(0, expected.low[0]! * 0.999))).toThrow("percentile 0");
  expect(() => checkAnswer(expected, middle.with(0, Number.NaN))).toThrow("percentile 0");
  expect(() => checkAnswer(expected, middle.subarray(3))).toThrow("percentiles, not");
});
