import type { BenchContext } from "./benches.ts";
import { createRow, type MeasuredRow, type Metric, type PeerResult } from "./row.ts";

/** Report of a contender that is ready for a case. */
export interface Opened {
  /** Its output in this case, compared before anything is timed. */
  readonly output: Float32Array;
  /** Adapter that it runs on, where it is known. */
  readonly adapter: string | null;
  /** Details for people, such as the chosen settings. */
  readonly note?: string;
}

/** A contender made ready for one case. */
export interface Entry {
  readonly opened: Opened;
  /** One round: a value for each metric. A peer may lack some of them; a metric that ours lacks has no row. */
  measure(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Prepares itself for a case, warmed up; throws where it cannot run here. */
export type Contender<Case> = (input: Case) => Promise<Entry>;

export interface Contest<Case> {
  readonly metrics: Readonly<Record<string, Metric>>;
  readonly cases: readonly { readonly name: string; readonly input: Case }[];
  readonly device: { readonly name: string; readonly software: boolean };
  readonly ours: Contender<Case>;
  readonly peers: Readonly<Record<string, Contender<Case>>>;
  /** Throws where an output is wrong. */
  readonly check: (input: Case, output: Float32Array) => void | Promise<void>;
}

interface Peer {
  readonly name: string;
  readonly rounds: Readonly<Record<string, number>>[];
  /** Null once it has dropped out. */
  entry: Entry | null;
  reason: string;
}

/**
 * Runs each case: all contenders are prepared and their outputs checked, then they take turns, one round each. A peer
 * that cannot run or is wrong drops out, with the reason in its rows; if ours does, the contest fails.
 */
export async function* runContest<Case>(contest: Contest<Case>, context: BenchContext): AsyncGenerator<MeasuredRow> {
  for (const { name, input } of contest.cases) {
    const say = (text: string) => context.say(`${context.bench} ${name}: ${text}`);
    say("preparing");
    const ours = await contest.ours(input);
    const peers: Peer[] = [];
    try {
      const { output, note } = ours.opened;
      await contest.check(input, output);
      if (note !== undefined) say(`ours: ${note}`);
      for (const [peer, contender] of Object.entries(contest.peers)) {
        peers.push(
          await enter(
            peer,
            () => contender(input),
            (entry) => judge(contest, input, ours.opened, entry.opened),
            say,
          ),
        );
      }
      const values = await takeTurns(ours, peers, context.rounds, say);
      const { name: device, software } = contest.device;
      const row = { bench: context.bench, case: name, rounds: context.rounds, device, software };
      for (const metric of Object.entries(contest.metrics)) yield* createRows(row, metric, values, peers);
    } finally {
      await Promise.all([ours, ...peers.map(({ entry }) => entry)].map(async (entry) => entry?.close()));
    }
  }
}

async function enter(
  name: string,
  open: () => Promise<Entry>,
  assertFit: (entry: Entry) => Promise<void>,
  say: BenchContext["say"],
): Promise<Peer> {
  const peer: Peer = { name, rounds: [], entry: null, reason: "" };
  try {
    peer.entry = await open();
    await assertFit(peer.entry);
  } catch (error) {
    await dismiss(peer, error, say);
  }
  return peer;
}

async function judge<Case>(
  { check }: Contest<Case>,
  input: Case,
  ours: Opened,
  { output, adapter }: Opened,
): Promise<void> {
  if (adapter !== null && ours.adapter !== null && adapter !== ours.adapter) {
    throw new Error(`it ran on ${adapter}, ours on ${ours.adapter}`);
  }
  try {
    await check(input, output);
  } catch (error) {
    throw new Error(`its output is wrong: ${explain(error)}`, { cause: error });
  }
}

async function takeTurns(ours: Entry, peers: readonly Peer[], rounds: number, say: BenchContext["say"]) {
  const values: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    values.push(await ours.measure());
    for (const peer of peers) {
      if (peer.entry === null) continue;
      try {
        peer.rounds.push(await peer.entry.measure());
      } catch (error) {
        await dismiss(peer, error, say);
      }
    }
  }
  return values;
}

async function dismiss(peer: Peer, error: unknown, say: BenchContext["say"]): Promise<void> {
  const { entry } = peer;
  peer.entry = null;
  peer.reason = explain(error);
  say(`${peer.name} is out: ${peer.reason}`);
  await entry?.close();
}

function* createRows(
  row: Parameters<typeof createRow>[0],
  metric: readonly [string, Metric],
  rounds: readonly Readonly<Record<string, number>>[],
  peers: readonly Peer[],
): Generator<MeasuredRow> {
  const valuesOf = (all: readonly Readonly<Record<string, number>>[]) =>
    all.map((values) => values[metric[0]] ?? Number.NaN);
  // Without a value of ours there is nothing to compare.
  if (rounds[0] !== undefined && !(metric[0] in rounds[0])) return;
  const ours = valuesOf(rounds);
  if (metric[1].oursOnly) yield createRow(row, metric, ours, null);
  else {
    for (const { name, entry, rounds: theirs, reason } of peers) {
      if (theirs[0] !== undefined && !(metric[0] in theirs[0])) continue;
      const result: PeerResult = entry === null ? { reason } : { values: valuesOf(theirs) };
      yield createRow(row, metric, ours, { name, ...result });
    }
  }
}

function explain(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  // The search path of a missing package is specific to this machine.
  return line.replace(/ imported from .*/, "").slice(0, 200);
}
