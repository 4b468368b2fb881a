import type { Bench } from "./benches.ts";
import { attributeLosses, LOSSES } from "./goodput/attribute-losses.ts";
import { boundGoodput, knowRequests } from "./goodput/bound-goodput.ts";
import type { PolicyName } from "./goodput/policies.ts";
import { scoreRound } from "./goodput/score-round.ts";
import { interpolate, type ServiceTimes } from "./goodput/service-times.ts";
import { type DeviceNoise, simulateQueue } from "./goodput/simulate-queue.ts";
import { createTrace, seedOfRound, type Trace } from "./goodput/trace.ts";
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
const DEVICES: Readonly<Record<string, Record<keyof ServiceTimes, [number, number][]>>> = {
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
const NOISES: Readonly<Record<string, DeviceNoise>> = {
  calm: { spread: 0.04, stalls: 0.003, slowness: 1 },
  uneasy: { spread: 0.08, stalls: 0.007, slowness: 1.4 },
};

const GOODPUT: Metric = { unit: "1/s", better: "higher" };
const KEPT: Metric = { unit: "%", better: "higher" };
const LOST: Metric = { unit: "% of the bound", better: "lower", oursOnly: true };

/**
 * Schedulers before a simulated device, on the traces of the goodput bench: the same figures on every machine, and each
 * loss against the bound with its reason. A round is a seed; each contender has adapted to another trace before.
 */
export const benchQueue: Bench = async function* benchQueue({ bench, rounds, say }) {
  for (const [deviceName, known] of Object.entries(DEVICES)) {
    const serviceTimes = { policy: interpolate(known.policy), vision: interpolate(known.vision) };
    const meanMs = (serviceTimes.policy[0]! + serviceTimes.vision[0]!) / 2 + AROUND_MS;
    for (const [noiseName, noise] of Object.entries(NOISES)) {
      for (const load of LOADS) {
        const name = `${deviceName}, ${noiseName}, ${load}×`;
        say(`${bench} ${name}`);
        const context = { bench, case: name, rounds, device: "simulated", software: true };
        yield* compare(context, (1e3 * load) / meanMs, serviceTimes, noise);
      }
    }
  }
};

async function* compare(
  context: Parameters<typeof createRow>[0],
  ratePerSecond: number,
  serviceTimes: ServiceTimes,
  noise: DeviceNoise,
): AsyncGenerator<Row> {
  const warmUp = createTrace(ratePerSecond, seedOfRound(0));
  const traces = Array.from({ length: context.rounds }, (_, index) =>
    createTrace(ratePerSecond, seedOfRound(index + 1)),
  );
  const play = (policy: PolicyName) =>
    Promise.all(
      traces.map(async (trace, index) => {
        const [, played] = await simulateQueue(policy, [warmUp, trace], serviceTimes, noise, index + 1);
        return { trace, ...played!, score: scoreRound(trace, played!.outcomes) };
      }),
    );
  const goodputs = (all: Awaited<ReturnType<typeof play>>) => all.map(({ score }) => score.goodput);
  const kept = (all: Awaited<ReturnType<typeof play>>) => all.map(({ score }) => score["in budget of admitted"]);
  const ours = await play("runner-alone");
  const bounds = traces.map((trace) => boundOf(trace, serviceTimes));
  yield createRow(context, ["goodput", GOODPUT], goodputs(ours), { name: "oracle", values: bounds });
  for (const name of PEERS) {
    const theirs = await play(name);
    yield createRow(context, ["goodput", GOODPUT], goodputs(ours), { name, values: goodputs(theirs) });
    yield createRow(context, ["in budget of admitted", KEPT], kept(ours), { name, values: kept(theirs) });
  }
  const losses = ours.map(({ trace, outcomes, batches }) => attributeLosses(trace, outcomes, batches, serviceTimes));
  for (const loss of LOSSES) {
    const shares = losses.map((each, index) => (1e5 * each[loss]) / (bounds[index]! * traces[index]!.durationMs));
    yield createRow(context, [`lost: ${loss}`, LOST], shares, null);
  }
}

/** Answers per second of the bound. */
function boundOf(trace: Trace, serviceTimes: ServiceTimes): number {
  return (1e3 * boundGoodput(knowRequests(trace), serviceTimes)) / trace.durationMs;
}
