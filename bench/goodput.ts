import { cpus } from "node:os";
import type { Bench, BenchContext } from "./benches.ts";
import { type Contest, runContest } from "./contest.ts";
import { FrameSender } from "./goodput/frame-sender.ts";
import { checkOutputs, collectOutputs, type GoodputCase } from "./goodput/goodput-case.ts";
import { compareAlone } from "./goodput/compare-alone.ts";
import { measureCapacity } from "./goodput/measure-capacity.ts";
import { measureUnderLoad } from "./goodput/measure-under-load.ts";
import { openLoaded } from "./goodput/open-loaded.ts";
import { openOracle } from "./goodput/open-oracle.ts";
import { openPolicy, startPolicy } from "./goodput/open-policy.ts";
import { MODELS, writeModel } from "./goodput/served-models.ts";
import { FIRST_SHAPE, TRACE_SHAPES, type TraceShape } from "./goodput/trace.ts";
import { startStack } from "./hop/start-stack.ts";

/** Multiples of the measured capacity. */
const LOADS = [0.5, 1, 1.5, 2, 3];
/** Load of the further shapes of traces. */
const SHAPED_LOAD = 2;

const MS = { unit: "ms", better: "lower" } as const;
const METRICS = {
  goodput: { unit: "1/s", better: "higher" },
  "in budget of admitted": { unit: "%", better: "higher" },
  refused: { unit: "%", better: "lower" },
  p50: MS,
  p99: MS,
  "p99 lateness of the generator": MS,
} as const;

const PEERS = {
  "runner-alone": openPolicy("runner-alone"),
  "runner-patient": openPolicy("runner-patient"),
  fifo: openPolicy("fifo"),
  "fifo-timeouts": openPolicy("fifo-timeouts"),
  "clipper-aimd": openPolicy("clipper-aimd"),
  bentoml: openPolicy("bentoml"),
  oracle: openOracle,
};

/**
 * Answers in budget under traces that no contender can slow down: the whole product, its scheduler alone behind the
 * same HTTP server as the peers, four peers, and an upper bound for any schedule that knows the trace beforehand.
 */
export const benchGoodput: Bench = async function* benchGoodput(context) {
  const say = (text: string) => context.say(`${context.bench}: ${text}`);
  const known = await measureBefore(say);
  const stack = await startStack(say);
  try {
    for (const model of MODELS) {
      say(`placing ${model}`);
      // The policy is dense, so the edge serves it too.
      await stack.place(model, writeModel(model), model === "policy" ? "edge-wasm" : "ort-cpu");
    }
    const target = { url: stack.url, key: stack.key };
    const ours = (input: GoodputCase) =>
      openLoaded(
        target,
        input,
        () => {},
        async () => {},
      );
    for (const load of LOADS) yield* contend(context, load, FIRST_SHAPE, { ...known, ours });
    for (const shape of Object.keys(TRACE_SHAPES) as TraceShape[]) {
      if (shape !== FIRST_SHAPE) yield* contend(context, SHAPED_LOAD, shape, { ...known, ours });
    }
  } finally {
    await stack.stop();
  }
};

type Known = Awaited<ReturnType<typeof measureBefore>>;

/** Rows of the loads, and the required outputs. */
async function measureBefore(say: BenchContext["say"]) {
  const server = await startPolicy("fifo");
  const sender = new FrameSender({ url: server.url, key: "" });
  const expected = await collectOutputs(sender).finally(() => server.close());
  sender.close();
  const capacity = await measureCapacity();
  say(`capacity: ${capacity.toFixed(1)} requests/s`);
  return { expected, capacity };
}

async function* contend(
  context: BenchContext,
  load: number,
  shape: TraceShape,
  { capacity, expected, ours }: Known & Pick<Contest<GoodputCase>, "ours">,
) {
  const ratePerSecond = load * capacity;
  const name = shape === FIRST_SHAPE ? `${load}×` : `${shape}, ${load}×`;
  context.say(`${context.bench} ${name}: measuring service times`);
  const serviceTimes = await measureUnderLoad(ratePerSecond);
  for (const model of MODELS) {
    const at = (rows: number) => `${rows}: ${serviceTimes[model][rows - 1]?.toFixed(2)}`;
    context.say(`${context.bench} ${name}: ${model}, ms by rows: ${[1, 2, 4, 8, 16, 32, 64].map(at).join(", ")}`);
  }
  const rows = runContest<GoodputCase>(
    {
      metrics: METRICS,
      cases: [{ name, input: { ratePerSecond, shape, serviceTimes, expected } }],
      device: { name: cpus()[0]?.model.trim() ?? "unknown", software: false },
      ours,
      peers: PEERS,
      check: checkOutputs,
    },
    context,
  );
  yield* compareAlone(rows);
}
