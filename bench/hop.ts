import { cpus } from "node:os";
import { seededUniform } from "../kernels/seeded-uniform.ts";
import type { Bench, BenchContext } from "./benches.ts";
import { type Contender, runContest } from "./contest.ts";
import { addedRow } from "./hop/added-row.ts";
import { findOurs } from "./hop/find-ours.ts";
import { findNodeProxy, findPlainHttp } from "./hop/find-plain.ts";
import { GcLog } from "./hop/gc-log.ts";
import type { HopCase } from "./hop/hop-case.ts";
import { openArrivals } from "./hop/open-arrivals.ts";
import { type FindTarget, openStream } from "./hop/open-stream.ts";
import { readParts } from "./hop/read-parts.ts";
import { startStack } from "./hop/start-stack.ts";
import type { Row } from "./row.ts";

/** Floats in the payload, which is sent and returned. */
const SIZES = [
  { name: "1 KB", elements: 256 },
  { name: "100 KB", elements: 25_600 },
];

const MS = { unit: "ms", better: "lower" } as const;
const OURS_ONLY = { ...MS, oursOnly: true } as const;

/** Metrics of a stream; the parts are means over a round, since the edge's clock has steps of 1 ms. */
const STREAM_METRICS = {
  p50: MS,
  p99: MS,
  "mean in client and socket": OURS_ONLY,
  "mean in edge": OURS_ONLY,
  "mean in link": OURS_ONLY,
  "mean in queue": OURS_ONLY,
  "mean in upload": OURS_ONLY,
  "mean in compute": OURS_ONLY,
  "mean in readback": OURS_ONLY,
};

const ARRIVALS_METRICS = {
  p50: MS,
  p99: MS,
  "p99.9": MS,
  "p50 less gc": OURS_ONLY,
  "p99 less gc": OURS_ONLY,
  "p99.9 less gc": OURS_ONLY,
  "longest gc": OURS_ONLY,
  "time in gc": { ...OURS_ONLY, unit: "%" },
};

/**
 * Inferences in raw frames as a client sees them: through the edge to a runner's process and its device's process, or
 * with a ticket to the runner itself; against a bare Node server with the same backend, and the same behind a plain
 * proxy. The network is trivial (Neg), so the way makes the difference.
 */
export const benchHop: Bench = async function* benchHop(context) {
  const gc = await GcLog.open();
  try {
    const stack = await startStack((text) => context.say(`${context.bench}: ${text}`), {
      variables: gc.variables,
    });
    try {
      yield* contend(context, findOurs(stack), gc);
    } finally {
      await stack.stop();
    }
  } finally {
    await gc.close();
  }
};

async function* contend(context: BenchContext, ours: FindTarget, gc: GcLog): AsyncGenerator<Row> {
  const device = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const cases = (way: HopCase["way"], suffix: string) =>
    SIZES.map(({ name, elements }) => ({
      name: `${name}${suffix}`,
      input: { values: seededUniform(1, 0, elements), way },
    }));
  const stream =
    (find: FindTarget): Contender<HopCase> =>
    async (input) =>
      openStream(await find(input), input);
  const arrivals =
    (find: FindTarget): Contender<HopCase> =>
    async (input) =>
      openArrivals(await find(input), input);
  for await (const row of runContest<HopCase>(
    {
      metrics: STREAM_METRICS,
      cases: [...cases("edge", ""), ...cases("direct", ", direct")],
      device,
      ours: async (input) => openStream(await ours(input), input, readParts),
      peers: { "plain-http": stream(findPlainHttp), "node-proxy": stream(findNodeProxy) },
      check: checkNegated,
    },
    context,
  )) {
    yield row;
    if (row.metric === "p50" && row.peer === "plain-http") yield addedRow(row);
  }
  yield* runContest<HopCase>(
    {
      metrics: ARRIVALS_METRICS,
      cases: [...cases("edge", ", 200/s"), ...cases("direct", ", direct, 200/s")],
      device,
      ours: async (input) => openArrivals(await ours(input), input, () => gc.read()),
      peers: { "node-proxy": arrivals(findNodeProxy) },
      check: checkNegated,
    },
    context,
  );
}

/** Negation is exact. */
function checkNegated({ values }: HopCase, output: Float32Array): void {
  if (output.length !== values.length) throw new Error(`it has ${output.length} elements, not ${values.length}`);
  const wrong = values.findIndex((value, index) => output[index] !== -value);
  if (wrong >= 0) throw new Error(`element ${wrong} is ${output[wrong]}, not ${-(values[wrong] ?? 0)}`);
}
