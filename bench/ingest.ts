import { cpus } from "node:os";
import { ensureBuilt } from "../src/local/build.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { ROOT } from "./hop/start-stack.ts";
import { insertPoints } from "./ingest/insert-points.ts";
import { type Killed, killEdge } from "./ingest/kill-edge.ts";
import { createBatch } from "./ingest/point-batches.ts";
import { reportPoints } from "./ingest/report-points.ts";
import { createRow } from "./row.ts";

const BATCH_SIZES = [10, 100, 1_000];

const METRICS = { "points stored": { unit: "1/s", better: "higher" } } as const;
const KILL_METRICS = {
  lostPoints: { unit: "points", better: "lower", oursOnly: true },
  duplicatePoints: { unit: "points", better: "lower", oursOnly: true },
  knownReports: { unit: "reports", better: "lower", oursOnly: true },
  failedAttempts: { unit: "requests", better: "lower", oursOnly: true },
} as const;

/** Points into D1 by reports, against one insert for each point; then an edge that is killed during reports. */
export const benchIngest: Bench = async function* benchIngest(context) {
  const device = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  await ensureBuilt(ROOT, (text) => context.say(`${context.bench}: ${text}`));
  yield* runContest<number>(
    {
      metrics: METRICS,
      cases: BATCH_SIZES.map((size) => ({ name: `${size} points a batch`, input: size })),
      device,
      ours: reportPoints,
      peers: { "insert-each": insertPoints(false), "insert-batch": insertPoints(true) },
      check: checkFirstBatch,
    },
    context,
  );
  const killed: Killed[] = [];
  for (let round = 1; round <= context.rounds; round++) {
    context.say(`${context.bench}: killing the edge, round ${round} of ${context.rounds}`);
    killed.push(await killEdge(round));
  }
  const row = { bench: context.bench, case: "killed while reports come", rounds: context.rounds };
  for (const [name, metric] of Object.entries(KILL_METRICS)) {
    // Rounds are added up: a median would hide a single loss.
    const sum = killed.reduce((total, each) => total + each[name as keyof Killed], 0);
    yield createRow({ ...row, device: device.name, software: device.software }, [name, metric], [sum], null);
  }
};

function checkFirstBatch(size: number, output: Float32Array): void {
  const expected = Float32Array.from(createBatch(0, size), ({ value }) => value).toSorted();
  if (output.length !== size) throw new Error(`it stored ${output.length} points, not ${size}`);
  const wrong = expected.findIndex((value, index) => output[index] !== value);
  if (wrong >= 0) throw new Error(`point ${wrong} is ${output[wrong]}, not ${expected[wrong]}`);
}
