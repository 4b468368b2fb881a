import { endpoints } from "../../src/protocol/endpoints.ts";
import type { ComparisonReply } from "../../src/protocol/history/comparison.ts";
import type { HistoryQueryReply } from "../../src/protocol/history/history-query.ts";
import type { Contender } from "../contest.ts";
import type { Target } from "../hop/start-stack.ts";
import type { MeasuredYear } from "./measured-year.ts";
import type { Question } from "./questions.ts";
import { timeAnswers } from "./time-answers.ts";

/** URL of a question to the product; `ids` are those of the series. */
export function toUrl(edge: string, { series }: MeasuredYear, ids: readonly string[], question: Question): URL {
  const { fromMs, toMs, parts, numbers, byDevice } = question;
  const { subject, metric } = series[numbers[0]! - 1]!.key;
  const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString()) as [string, string];
  const which = byDevice
    ? { subject, metric, groupBy: "device" }
    : { series: numbers.map((no) => ids[no - 1]!).join() };
  if (parts !== null && "splitMs" in parts) {
    const split = new Date(parts.splitMs).toISOString();
    return build(edge, endpoints.compareSeries.path, {
      ...which,
      a: `window:${from}/${split}`,
      b: `window:${split}/${to}`,
    });
  }
  const step = parts === null ? {} : { step: `${parts.stepMs / 1_000}s` };
  return build(edge, endpoints.queryHistory.path, { ...which, from, to, ...step });
}

function build(edge: string, path: string, query: Record<string, string>): URL {
  const url = new URL(path, edge);
  url.search = new URLSearchParams(query).toString();
  return url;
}

/** The product over HTTP, each reply read as JSON. */
export function askOurs({ url: edge, key }: Target, year: MeasuredYear, ids: readonly string[]): Contender<Question> {
  const numberOf = new Map(ids.map((id, index) => [id, index + 1]));
  return (question) => {
    const url = toUrl(edge, year, ids, question);
    return timeAnswers(async () => {
      const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      if (!reply.ok) throw new Error(`status ${reply.status}: ${await reply.text()}`);
      const answer = (await reply.json()) as HistoryQueryReply | ComparisonReply;
      if ("pairs" in answer) return { percentiles: flattenPairs(answer), rowsRead: readRows(reply) };
      const sorted = answer.groups.toSorted((a, b) => numberOf.get(a.series[0]!)! - numberOf.get(b.series[0]!)!);
      return { percentiles: flattenGroups(sorted), rowsRead: readRows(reply) };
    });
  };
}

function flattenPairs({ pairs }: ComparisonReply): Float32Array {
  return Float32Array.from(pairs.flatMap(({ a, b }) => [a.value, b.value]));
}

/** Rows that the database read for the answer, from the reply itself. */
function readRows(reply: Response): number | null {
  const [, rows] = /rows;desc="(\d+)"/.exec(reply.headers.get("server-timing") ?? "") ?? [];
  return rows === undefined ? null : Number(rows);
}

function flattenGroups(groups: HistoryQueryReply["groups"]): Float32Array {
  return Float32Array.from(
    groups.flatMap(({ points }) => points.flatMap(({ percentiles: p }) => [p["p50"]!, p["p95"]!, p["p99"]!])),
  );
}
