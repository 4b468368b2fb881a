import type { Bench } from "./benches.ts";
import { attributeLosses, LOSSES } from "./goodput/attribute-losses.ts";
import { boundGoodput, knowRequests } from "./goodput/bound-goodput.ts";
import { POLICIES, type PolicyName } from "./goodput/policies.ts";
import { scoreRound } from "./goodput/score-round.ts";
import { interpolate, type ServiceTimes } from "./goodput/service-times.ts";
import { type DeviceNoise, simulateQueue } from "./goodput/simulate-queue.ts";
import { createTrace, FIRST_SHAPE, seedOfRound, type Trace, TRACE_SHAPES, type TraceShape } from "./goodput/trace.ts";
import type { CreatePolicy } from "./goodput/policy.ts";
import { createRow, type Metric, type Row } from "./row.ts";

const LOADS = [0.5, 1, 1.5, 2, 3, 6];
const PEERS = ["runner-patient", "fifo-timeouts", "clipper-aimd", "bentoml"] as const satisfies PolicyName[];
/** Time of a plain server beside the device, which lowers what counts as 1×. */
const AROUND_MS = 0.1;

/**
 * Simulated devices by the median time of a batch in milliseconds, by rows. `cpu` resembles the two networks of the
 * goodput bench on one core: estimated from its earlier rows, not measured under load. On `gpu` a larger batch costs
 * little more, and in `even` neither network is much shorter than the other.
 */
export const DEVICES: Readonly<Record<string, Record<keyof ServiceTimes, [number, number][]>>> = {
  cpu: {
    policy: [
      [1, 0.3],
      [2, 0.3],
      [4, 0.31],
      [8, 0.32],
      [16, 0.35],
      [32, 0.45],
      [64, 0.65],
    ],
    vision: [
      [1, 10.8],
      [2, 19.6],
      [4, 36],
      [64, 576],
    ],
  },
  gpu: {
    policy: [
      [1, 1.2],
      [64, 7.5],
    ],
    vision: [
      [1, 6],
      [64, 43.8],
    ],
  },
  even: {
    policy: [
      [1, 3],
      [64, 129],
    ],
    vision: [
      [1, 5],
      [64, 194],
    ],
  },
};
export const NOISES: Readonly<Record<string, DeviceNoise>> = {
  calm: { spread: 0.04, stalls: 0.003, slowness: 1 },
  uneasy: { spread: 0.08, stalls: 0.007, slowness: 1.4 },
};

export const GOODPUT: Metric = { unit: "1/s", better: "higher" };
export const KEPT: Metric = { unit: "%", better: "higher" };
const LOST: Metric = { unit: "% of the bound", better: "lower", oursOnly: true };
/** Loads of the further shapes of traces, on the first device when it is uneasy. */
const SHAPED_LOADS = [0.5, 1, 2, 3];

/**
 * Schedulers before a simulated device, on the traces of the goodput bench: the same figures on every machine, and each
 * loss against the bound with its reason. A round is a seed; each contender has adapted to another trace before.
 */
export const benchQueue: Bench = async function* benchQueue({ bench, rounds, say }) {
  const contend = async function* (deviceName: string, noiseName: string, load: number, shape: TraceShape) {
    const name = [deviceName, noiseName, ...(shape === FIRST_SHAPE ? [] : [shape]), `${load}×`].join(", ");
    say(`${bench} ${name}`);
    const { serviceTimes, ratePerSecond } = createDevice(deviceName, load);
    const context = { bench, case: name, rounds, device: "simulated", software: true };
    yield* compare(context, drawTraces(ratePerSecond, rounds, shape), serviceTimes, NOISES[noiseName]!);
  };
  for (const device of Object.keys(DEVICES)) {
    for (const noise of Object.keys(NOISES)) for (const load of LOADS) yield* contend(device, noise, load, FIRST_SHAPE);
  }
  for (const shape of Object.keys(TRACE_SHAPES) as TraceShape[]) {
    if (shape === FIRST_SHAPE) continue;
    for (const load of SHAPED_LOADS) yield* contend("cpu", "uneasy", load, shape);
  }
};

/** A simulated device, and a load in multiples of what it does without batches. */
export function createDevice(name: string, load: number): { serviceTimes: ServiceTimes; ratePerSecond: number } {
  const { policy, vision } = DEVICES[name]!;
  const serviceTimes = { policy: interpolate(policy), vision: interpolate(vision) };
  const meanMs = (serviceTimes.policy[0]! + serviceTimes.vision[0]!) / 2 + AROUND_MS;
  return { serviceTimes, ratePerSecond: (1e3 * load) / meanMs };
}

/** One trace to adapt to, then one for each round. */
export function drawTraces(ratePerSecond: number, rounds: number, shape?: TraceShape): Trace[] {
  return Array.from({ length: rounds + 1 }, (_, round) => createTrace(ratePerSecond, seedOfRound(round), shape));
}

/** Plays every round on a device of its own. */
export function playRounds(
  policy: CreatePolicy,
  [warmUp, ...traces]: readonly Trace[],
  serviceTimes: ServiceTimes,
  noise: DeviceNoise,
) {
  return Promise.all(
    traces.map(async (trace, index) => {
      const [, played] = await simulateQueue(policy, [warmUp!, trace], serviceTimes, noise, index + 1);
      return { trace, ...played!, score: scoreRound(trace, played!.outcomes) };
    }),
  );
}

/** Answers per second of the bound. */
export function boundOf(trace: Trace, serviceTimes: ServiceTimes): number {
  return (1e3 * boundGoodput(knowRequests(trace), serviceTimes)) / trace.durationMs;
}

async function* compare(
  context: Parameters<typeof createRow>[0],
  traces: readonly Trace[],
  serviceTimes: ServiceTimes,
  noise: DeviceNoise,
): AsyncGenerator<Row> {
  const play = (policy: PolicyName) => playRounds(POLICIES[policy], traces, serviceTimes, noise);
  const goodputs = (all: Awaited<ReturnType<typeof play>>) => all.map(({ score }) => score.goodput);
  const kept = (all: Awaited<ReturnType<typeof play>>) => all.map(({ score }) => score["in budget of admitted"]);
  const ours = await play("runner-alone");
  const bounds = ours.map(({ trace }) => boundOf(trace, serviceTimes));
  yield createRow(context, ["goodput", GOODPUT], goodputs(ours), { name: "oracle", values: bounds });
  for (const name of PEERS) {
    const theirs = await play(name);
    yield createRow(context, ["goodput", GOODPUT], goodputs(ours), { name, values: goodputs(theirs) });
    yield createRow(context, ["in budget of admitted", KEPT], kept(ours), { name, values: kept(theirs) });
  }
  const losses = ours.map(({ trace, outcomes, batches }) => attributeLosses(trace, outcomes, batches, serviceTimes));
  for (const loss of LOSSES) {
    const shares = losses.map((each, index) => (1e5 * each[loss]) / (bounds[index]! * ours[index]!.trace.durationMs));
    yield createRow(context, [`lost: ${loss}`, LOST], shares, null);
  }
}
