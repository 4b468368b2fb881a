import { ZOO, ZOO_CATEGORIES } from "../../models/zoo.ts";
import { mean } from "../../src/stats/distribution/summary.ts";
import { createRow, type MeasuredRow, type Row, type RowContext } from "../row.ts";

/** Milliseconds that the system which inspired this one reports over 30 networks, from a formula. */
const PUBLISHED_MS = 0.64;
const TIME = { unit: "ms", better: "lower" } as const;

/** Subject of one row. */
export interface TimedRow {
  readonly model: string;
  readonly row: MeasuredRow;
}

/**
 * Summary of the rows of times: geometric means of ours and a peer over the networks that both answered, for each peer;
 * and the mean over networks, each on the fastest of the product's backends, beside the published figure, then by category.
 */
export function summariseZoo(context: Omit<RowContext, "case">, timed: readonly TimedRow[], own: readonly string[]) {
  const rows: Row[] = [];
  for (const [pair, some] of Map.groupBy(timed, ({ row }) => `${row.case.split(" ").at(-1)} over ${row.peer}`)) {
    const both = some.flatMap(({ row: { ours, peerValue } }) => (peerValue === null ? [] : { ours, peerValue }));
    const peer = some[0]!.row.peer!;
    const geometric = (values: readonly number[]) => Math.exp(mean(values.map(Math.log)));
    const values = both.length === 0 ? null : [geometric(both.map(({ peerValue }) => peerValue))];
    const ours = [geometric((values === null ? some.map(({ row }) => row) : both).map((each) => each.ours))];
    const found = values === null ? { reason: "it answered none" } : { values };
    const name = `geometric mean of ${both.length}, ${pair}`;
    rows.push(createRow({ ...context, case: name }, ["time", TIME], ours, { name: peer, ...found }));
  }
  const fastest = new Map<string, number>();
  for (const { model, row } of timed) {
    const isOwn = row.peer !== null && own.includes(row.peer) && row.peerValue !== null;
    const ms = Math.min(row.ours, isOwn ? row.peerValue : Infinity);
    fastest.set(model, Math.min(ms, fastest.get(model) ?? Infinity));
  }
  if (fastest.size > 0) {
    const name = `mean of ${fastest.size}, each on its fastest backend`;
    const published = { name: "published", values: [PUBLISHED_MS] };
    rows.push(createRow({ ...context, case: name }, ["time", TIME], [mean([...fastest.values()])], published));
    for (const category of ZOO_CATEGORIES) {
      const some = ZOO.filter((model) => model.category === category).flatMap((model) => fastest.get(model.name) ?? []);
      if (some.length === 0) continue;
      const ofCategory = `mean of ${some.length} of ${category}, each on its fastest backend`;
      rows.push(createRow({ ...context, case: ofCategory }, ["time", TIME], [mean(some)], null));
    }
  }
  return rows;
}
