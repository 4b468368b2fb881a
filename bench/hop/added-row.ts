import type { MeasuredRow } from "../row.ts";

/** Time that our way adds to the peer's, from the row that compares their medians. */
export function addedRow(row: MeasuredRow): MeasuredRow {
  const { reason: _, ...rest } = row;
  const added = row.peerValue === null ? Number.NaN : row.ours - row.peerValue;
  const metric = `${row.metric} beyond ${row.peer}`;
  const ours = Number(added.toPrecision(5));
  return { ...rest, metric, ours, peer: null, peerValue: null, ratio: null, reason: "the difference of two medians" };
}
