import { sfc32 } from "../../src/stats/random/seeded.ts";
import { rowsOf } from "../../src/gpu-runner/serving/queue/join-tensors.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { SimClock } from "../simulate/sim-clock.ts";
import { type CreatePolicy, WAY_MS } from "./policy.ts";
import type { PolicyDevice } from "./model-device.ts";
import type { TraceOutcome } from "./put-trace.ts";
import type { ModelName } from "./served-models.ts";
import type { ServiceTimes } from "./service-times.ts";
import { MAX_BUDGET_MS, type Trace } from "./trace.ts";

/** How the duration of a batch differs from the median of its size. */
export interface DeviceNoise {
  /** Standard deviation of its logarithm. */
  readonly spread: number;
  /** Share of batches that something stalls, for 3 to 15 ms. */
  readonly stalls: number;
  /** Factor on all durations in a slow spell of 60 ms, of which about one a second comes. */
  readonly slowness: number;
}

/** A batch as it ran, in milliseconds of the simulation. */
export interface PlayedBatch {
  readonly model: ModelName;
  readonly rows: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface Played {
  readonly outcomes: readonly TraceOutcome[];
  readonly batches: readonly PlayedBatch[];
}

/** Tiny rows: durations are drawn, and no answer is computed. */
const rowsOfOne = (rows: number): Tensor[] => [
  { name: "row", dtype: "float32", shape: [rows, 1], bytes: new Uint8Array(4 * rows) },
];
/** Way of a request to the server and of its answer back: the least, and the mean of what comes on top. */
const ONE_WAY_MS = { least: 0.2, more: 0.1 };
const SLOW_SPELL_MS = 60;
const SPELL_EVERY_MS = 1_000;
const REST_MS = MAX_BUDGET_MS + 50;

/**
 * Plays traces, one after the other, against a policy in front of a simulated device that computes one batch at a time.
 * The policy keeps what it has learnt. The same seed gives the same outcomes, in any order of contenders.
 */
export async function simulateQueue(
  createPolicy: CreatePolicy,
  traces: readonly Trace[],
  serviceTimes: ServiceTimes,
  noise: DeviceNoise,
  seed: number,
): Promise<Played[]> {
  const clock = new SimClock();
  const batches: PlayedBatch[] = [];
  const device = simulateDevice(clock, serviceTimes, noise, seed, batches);
  const policy = createPolicy(device, { now: () => clock.nowMs, delay: (durationMs) => clock.delay(durationMs) });
  const wayMs = drawWays(seed);
  const played: Played[] = [];
  for (const { arrivalsMs, requests, durationMs } of traces) {
    const beganMs = clock.nowMs;
    const outcomes: TraceOutcome[] = requests.map(() => ({ status: null, latencyMs: durationMs, lagMs: 0 }));
    for (const [index, { model, budgetMs, rows }] of requests.entries()) {
      const atMs = beganMs + arrivalsMs[index]!;
      const [thereMs, backMs] = [wayMs(), wayMs()];
      clock.at(atMs + thereMs, () => {
        const arrivedMs = clock.nowMs;
        const deadlineMs = arrivedMs + Math.max(0, budgetMs - WAY_MS);
        const request = { id: `${beganMs}-${index}`, model, tensors: rowsOfOne(rows), arrivedMs, deadlineMs };
        void policy.serve(request).then(({ status }) => {
          outcomes[index] = { status, latencyMs: clock.nowMs + backMs - atMs, lagMs: 0 };
        });
      });
    }
    const firstBatch = batches.length;
    await clock.runUntil(beganMs + durationMs + REST_MS);
    policy.reset();
    await clock.runUntil(clock.nowMs + REST_MS);
    const own = batches.slice(firstBatch);
    const since = ({ startedMs, endedMs, ...batch }: PlayedBatch) => {
      return { ...batch, startedMs: startedMs - beganMs, endedMs: endedMs - beganMs };
    };
    played.push({ outcomes, batches: own.map(since) });
  }
  return played;
}

function simulateDevice(
  clock: SimClock,
  serviceTimes: ServiceTimes,
  noise: DeviceNoise,
  seed: number,
  batches: PlayedBatch[],
): PolicyDevice {
  const drawMs = drawDurations(noise, seed);
  let freeAtMs = 0;
  const run = async (model: ModelName, rows: number) => {
    const startedMs = Math.max(clock.nowMs, freeAtMs);
    const known = serviceTimes[model];
    const medianMs = known[rows - 1] ?? (known.at(-1)! * rows) / known.length;
    freeAtMs = startedMs + drawMs(medianMs, startedMs);
    batches.push({ model, rows, startedMs, endedMs: freeAtMs });
    await clock.delay(freeAtMs - clock.nowMs);
    return freeAtMs - startedMs;
  };
  return {
    host: {
      async infer(modelKey, [input]) {
        const computeMs = await run(modelKey.split("/")[0] as ModelName, input!.shape[0]!);
        return { tensors: [{ ...input!, name: "answer" }], times: { uploadMs: 0, computeMs, readbackMs: 0 } };
      },
    },
    async compute(model, requests) {
      await run(
        model,
        requests.reduce((sum, tensors) => sum + (rowsOf(tensors) ?? 1), 0),
      );
      return requests.map((tensors) => [...tensors]);
    },
  };
}

/** Draws the duration of a batch of a median at a time. */
function drawDurations({ spread, stalls, slowness }: DeviceNoise, seed: number) {
  const draw = sfc32(seed);
  const uniform = () => draw(2 ** 32) * 2 ** -32;
  let spellAtMs = SPELL_EVERY_MS * uniform();
  return (medianMs: number, atMs: number): number => {
    while (atMs > spellAtMs + SLOW_SPELL_MS) spellAtMs += SLOW_SPELL_MS - Math.log(1 - uniform()) * SPELL_EVERY_MS;
    const normal = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    const stallMs = uniform() < stalls ? 3 + 12 * uniform() : 0;
    return medianMs * Math.exp(spread * normal) * (atMs >= spellAtMs ? slowness : 1) + stallMs;
  };
}

function drawWays(seed: number): () => number {
  const draw = sfc32(seed + 1_000_000);
  return () => ONE_WAY_MS.least - Math.log(1 - draw(2 ** 32) * 2 ** -32) * ONE_WAY_MS.more;
}
