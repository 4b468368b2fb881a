import { createRow, type Row } from "../row.ts";

const ALONE = "runner-alone";

/**
 * Passes the rows of a case on, and adds after each metric those of the scheduler alone in place of ours: it runs
 * behind the same HTTP server as the peers, so schedulers are compared with each other.
 */
export async function* compareAlone(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  let alone: Row | null = null;
  for await (const row of rows) {
    yield row;
    if (row.peer === ALONE) alone = row;
    else if (alone?.metric === row.metric && alone.peerValue !== null) yield standIn(row, alone.peerValue);
  }
}

function standIn({ unit, better, peer, peerValue, reason, ...row }: Row, value: number): Row {
  const result = peerValue === null ? { reason: reason ?? "" } : { values: [peerValue] };
  const named = { ...row, case: `${row.case}, runner alone` };
  return createRow(named, [row.metric, { unit, better }], [value], peer === null ? null : { name: peer, ...result });
}
