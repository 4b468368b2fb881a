import { cpus } from "node:os";
import { OrtBackend } from "../src/gpu-runner/devices/ort/ort-backend.ts";
import type { Tensor } from "../src/protocol/wire/tensor.ts";
import type { Bench, BenchContext } from "./benches.ts";
import { createRow, type Metric, type PeerResult, type Row } from "./row.ts";
import { measureCapacity, measureIdle, measureLoad, waitForCalm } from "./serve/measure-server.ts";
import { startOurs, WAYS } from "./serve/our-stack.ts";
import { PEER_SERVERS, type RunningServer, startPeer } from "./serve/peer-servers.ts";
import { type Call, type Encoding, isRight, Sender } from "./serve/requests.ts";
import { type NetworkName, readNetwork, type ServedNetwork } from "./serve/served-network.ts";

/** Multiples of the best peer's capacity. */
const LOADS = [0.3, 0.7, 1, 2, 4];
/** Where binary tensors are measured, too: before and after the knee. */
const BINARY_LOADS = new Set([1, 2]);

const MS = { unit: "ms", better: "lower" } as const;
const SHARE = { unit: "%", better: "lower" } as const;
const METRICS: Readonly<Record<string, Metric>> = {
  goodput: { unit: "1/s", better: "higher" },
  p50: MS,
  p99: MS,
  refused: { ...SHARE, addend: 0.1 },
  late: { ...SHARE, addend: 0.1 },
  "p99 lateness of the generator": MS,
  start: MS,
  memory: { unit: "MB", better: "lower" },
};

/** Wider than any wait while outputs are compared. */
const CHECK_BUDGET_MS = 10_000;

/** A contender, or the reason why it is out. */
interface Contender {
  readonly name: string;
  server: RunningServer | null;
  reason: string;
  readonly rounds: Map<string, Record<string, number>[]>;
}

/** The same network on real servers and on ours, by the edge and directly, under the same arrivals. */
export const benchServe = (name: NetworkName): Bench =>
  async function* benchServeOne(context) {
    const network = await readNetwork(name);
    const expected = await answerByCpu(network);
    const say = (text: string) => context.say(`${context.bench}: ${text}`);
    say("starting ours");
    const ours = await startOurs(network);
    const contenders: Contender[] = WAYS.map((way) => enter(way, ours[way]));
    try {
      for (const peer of Object.keys(PEER_SERVERS)) {
        say(`starting ${peer}`);
        const contender = enter(peer, null);
        contenders.push(contender);
        await attempt(contender, say, async () => {
          contender.server = await startPeer(peer, network, say);
          await checkAnswer(contender.server, network, expected);
          await contender.server.pause();
        });
      }
      for (const way of WAYS) await checkAnswer(ours[way], network, expected);
      yield* contend(context, network, contenders);
    } finally {
      await Promise.all(contenders.map(async ({ server }) => server?.stop()));
    }
  };

function enter(name: string, server: RunningServer | null): Contender {
  return { name, server, reason: "", rounds: new Map() };
}

/** Where it fails, a peer is out, with the reason in its rows; a failure of ours ends the bench. */
async function attempt(contender: Contender, say: BenchContext["say"], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOurs(contender)) throw error;
    contender.reason = error instanceof Error ? error.message : String(error);
    say(`${contender.name} is out: ${contender.reason}`);
    await contender.server?.stop();
    contender.server = null;
  }
}

function isOurs({ name }: Contender): boolean {
  return (WAYS as readonly string[]).includes(name);
}

async function* contend(
  context: BenchContext,
  network: ServedNetwork,
  contenders: readonly Contender[],
): AsyncGenerator<Row> {
  const say = (text: string) => context.say(`${context.bench}: ${text}`);
  const idle = new Map<string, number>();
  /** A contender's turn: the others rest. */
  const takeTurn = (contender: Contender, encoding: Encoding, work: (call: Call) => Promise<Record<string, number>>) =>
    attempt(contender, say, async () => {
      const { server } = contender;
      if (server === null) return;
      const call = await server.call(network.input, encoding);
      if (call === null) return;
      await server.resume();
      await waitForCalm(call, idle.get(contender.name) ?? Number.POSITIVE_INFINITY);
      const found = await work(call);
      await server.pause();
      const known = contender.rounds.get(current) ?? [];
      contender.rounds.set(current, [...known, found]);
    });
  let current = "idle";
  for (let round = 1; round <= context.rounds; round++) {
    say(`idle, round ${round} of ${context.rounds}`);
    for (const contender of contenders) await takeTurn(contender, "JSON", measureIdle);
  }
  for (const { name, rounds } of contenders)
    idle.set(name, Math.min(...(rounds.get(current) ?? []).map(({ p50 }) => p50!)));
  yield* compare(context, current, contenders);

  current = "capacity";
  for (const contender of contenders)
    await takeTurn(contender, "JSON", async (call) => ({ goodput: await measureCapacity(call) }));
  const capacityOf = ({ rounds }: Contender) => rounds.get("capacity")?.[0]?.["goodput"] ?? 0;
  const best = Math.max(...contenders.filter((each) => !isOurs(each)).map(capacityOf));
  for (const contender of contenders) say(`capacity of ${contender.name}: ${capacityOf(contender).toFixed(0)}/s`);
  if (!(best > 0)) throw new Error("no peer runs here, so there is no load to compare by");

  for (const load of LOADS) {
    for (const encoding of ["JSON", "binary"] as const) {
      if (encoding === "binary" && !BINARY_LOADS.has(load)) continue;
      current = `${load} × ${best.toFixed(0)}/s, ${encoding}, ${network.deadlineMs} ms`;
      for (let round = 1; round <= context.rounds; round++) {
        say(`${current}, round ${round} of ${context.rounds}`);
        const plan = { ratePerSecond: load * best, deadlineMs: network.deadlineMs, seed: round };
        for (const contender of contenders) await takeTurn(contender, encoding, (call) => measureLoad(call, plan));
      }
      yield* compare(context, current, contenders);
    }
  }
  current = "stack";
  for (const { server, rounds } of contenders) {
    if (server !== null) rounds.set(current, [{ start: server.startMs, memory: await server.measureMemory() }]);
  }
  yield* compare({ ...context, rounds: 1 }, current, contenders);
}

/** A row for each metric, each way of ours and each peer. */
function* compare({ bench, rounds }: BenchContext, name: string, contenders: readonly Contender[]): Generator<Row> {
  const place = { bench, rounds, device: cpus()[0]?.model.trim() ?? "unknown", software: false };
  for (const ours of contenders.filter(isOurs)) {
    const found = ours.rounds.get(name) ?? [];
    for (const metric of Object.entries(METRICS)) {
      if (found[0] === undefined || !(metric[0] in found[0])) continue;
      for (const peer of contenders.filter((each) => !isOurs(each))) {
        const theirs = peer.rounds.get(name);
        const reason = peer.server === null ? peer.reason : "it does not take this encoding";
        const result = peer.server === null || theirs === undefined ? { reason } : valuesOf(theirs, metric[0]);
        const row = { ...place, case: `${name}, ${ours.name}` };
        yield createRow(row, metric, valuesOf(found, metric[0]), { name: peer.name, ...result });
      }
    }
  }
}

/** Values of the rounds that have one: where nothing was answered, nothing took any time. */
function valuesOf(rounds: readonly Record<string, number>[], metric: string): PeerResult {
  const values = rounds.map((each) => each[metric]!).filter((value) => !Number.isNaN(value));
  return values.length > 0 ? { values } : { reason: "nothing was answered" };
}

async function answerByCpu({ file, input }: ServedNetwork): Promise<Tensor> {
  const backend = new OrtBackend("cpu");
  await backend.load("network", file);
  const { tensors } = await backend.run("network", [input]);
  await backend.unload("network");
  return tensors[0]!;
}

async function checkAnswer(server: RunningServer, { input }: ServedNetwork, expected: Tensor): Promise<void> {
  const sender = new Sender();
  for (const encoding of ["JSON", "binary"] as const) {
    const call = await server.call(input, encoding);
    if (call === null) continue;
    const reply = await sender.send(call, CHECK_BUDGET_MS);
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.body.toString().slice(0, 200)}`);
    if (!isRight(call.read(reply), expected)) throw new Error(`its ${encoding} output is wrong`);
  }
  sender.close();
}
