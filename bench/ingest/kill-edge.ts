import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "../../src/client/client.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { drawWord } from "../../kernels/seeded-words.ts";
import { findD1File } from "../history/start-d1.ts";
import type { Target } from "../hop/start-stack.ts";
import { createBatch, SERIES } from "./point-batches.ts";
import { readStoredValues } from "./read-stored-values.ts";
import { type Loss, scoreLoss } from "./score-loss.ts";
import { sendReport, toReport } from "./send-report.ts";

const EDGE = fileURLToPath(new URL("edge-process.ts", import.meta.url));
const REPORTS = 200;
const REPORT_POINTS = 100;
/** Concurrent senders, each with one report at a time: this many are under way at the kill. */
const SENDERS = 16;
const RETRY_MS = 50;
const LIMIT_MS = 60_000;

/** Result of a kill. */
export interface Killed extends Loss {
  /** Reports that were stored, but not acknowledged before the kill: sent again, they were known. */
  readonly knownReports: number;
  /** Attempts that failed while the edge was down. */
  readonly failedAttempts: number;
}

/**
 * Sends reports to an edge that is killed midway with all its processes, at a time drawn from the seed, and restarted
 * on the same folder. An unacknowledged report is sent again until it is acknowledged.
 */
export async function killEdge(seed: number): Promise<Killed> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-ingest-"));
  const secret = createBootstrapSecret();
  const draw = drawWord(seed, 0);
  const killAfter = REPORTS * (0.2 + (0.6 * draw(0)) / 2 ** 32);
  let edge = await startEdgeProcess(dataDir, 0, secret);
  try {
    const target: Target = { url: edge.url, key: secret };
    const stream = openStream(target);
    const sent = stream.sendAll();
    sent.catch(() => {});
    while (stream.acknowledged < killAfter) await Promise.race([delay(1), sent]);
    await edge.kill();
    edge = await startEdgeProcess(dataDir, Number(new URL(target.url).port), secret);
    await sent;
    const counted = await countPoints(target);
    await edge.kill();
    const stored = readStoredValues(await findD1File(join(dataDir, "edge")));
    if (counted !== stored.length) throw new Error(`the API counts ${counted} points, the database ${stored.length}`);
    const all = Array.from({ length: REPORTS }, (_, index) => createBatch(index, REPORT_POINTS)).flat();
    const loss = scoreLoss(
      all.map(({ value }) => value),
      stored,
    );
    return { ...loss, knownReports: stream.known, failedAttempts: stream.failed };
  } finally {
    await edge.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** All reports, by several senders; each is sent until it is acknowledged. */
function openStream(target: Target) {
  const stream = { acknowledged: 0, known: 0, failed: 0, sendAll };
  const endMs = performance.now() + LIMIT_MS;
  let next = 0;
  async function send(): Promise<void> {
    while (next < REPORTS) {
      const index = next++;
      const report = toReport(`report-${index}`, createBatch(index, REPORT_POINTS));
      const outcome = await sendUntilAcknowledged(report);
      if (outcome === "known") stream.known++;
      stream.acknowledged++;
    }
  }
  async function sendUntilAcknowledged(report: string): Promise<"stored" | "known"> {
    for (;;) {
      try {
        return await sendReport(target, report);
      } catch (error) {
        if (performance.now() > endMs) throw error;
        stream.failed++;
        await delay(RETRY_MS);
      }
    }
  }
  async function sendAll(): Promise<void> {
    await Promise.all(Array.from({ length: SENDERS }, send));
  }
  return stream;
}

/** The edge's own count of its points. */
async function countPoints({ url, key }: Target): Promise<number> {
  const { items } = await createClient({ baseUrl: url, key }).call(endpoints.listSeries, { query: { limit: SERIES } });
  return items.reduce((sum, { points }) => sum + points, 0);
}

/** An edge with its processes in their own group. */
async function startEdgeProcess(dataDir: string, port: number, secret: string) {
  const child = fork(EDGE, [dataDir, String(port)], {
    detached: true,
    execArgv: [],
    env: { ...process.env, BENCH_EDGE_SECRET: secret },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const closed = once(child, "close");
  const ended = closed.then(() => Promise.reject(new Error("the edge ended before it answered")));
  ended.catch(() => {});
  const [url] = (await Promise.race([once(child, "message"), ended])) as [string];
  const kill = async () => {
    killGroup(child);
    await closed;
  };
  return { url, kill };
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
}
