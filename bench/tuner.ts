import { SUCCESSIVE_HALVING } from "../src/gpu-runner/kernels/tuning/tuner.ts";
import type { Bench, BenchContext } from "./benches.ts";
import { checkAgainstReference } from "./check-against-reference.ts";
import { type Contender, runContest } from "./contest.ts";
import { type Adapter, openAdapters } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";
import type { Row } from "./row.ts";
import { compareSearches, type Rival } from "./tuner/compare-searches.ts";
import { EXHAUSTIVE, searchKernel, type SearchOutcome } from "./tuner/search-kernel.ts";
import type { Choice, TunerCase } from "./tuner/tuner-case.ts";

/** The whole space is searched where that ends within minutes on a software device. */
const CASES: Readonly<Record<string, TunerCase>> = {
  "gemm 64": { kernel: "gemm", shape: cube(64), runs: 32, textbook: "shared-tiled", exhaustive: true },
  "gemm 256": { kernel: "gemm", shape: cube(256), runs: 4, textbook: "shared-tiled", exhaustive: false },
  "softmax 256×256": {
    kernel: "softmax",
    shape: { rows: 256, columns: 256 },
    runs: 16,
    textbook: "row-per-group",
    exhaustive: false,
  },
  "conv2d 14×14×16": {
    kernel: "conv2d",
    shape: { batch: 1, height: 14, width: 14, channels: 16, filters: 16, kernel: 3, stride: 1 },
    runs: 16,
    textbook: "implicit-gemm-shared",
    exhaustive: true,
  },
};

const NO_OTHER: Rival = { reason: "there is no second adapter here" };

/**
 * Value of tuning: its result against the untuned default, the textbook's variant, the best of another adapter, and the
 * result of timing everything; and its cost.
 */
export const benchTuner: Bench = async function* benchTuner(context) {
  const [main, other] = await openAdapters();
  if (main === undefined) throw new Error("there is no adapter here");
  for (const [name, input] of Object.entries(CASES)) {
    const say = (text: string) => context.say(`${context.bench} ${name}: ${text}`);
    say(`searching on ${main.device.name}`);
    const { found, exhaustive, rows } = await searchInTurn(main, name, input, context);
    yield* rows;
    if (other !== undefined) say(`searching on ${other.device.name}`);
    const elsewhere = other === undefined ? null : await searchKernel(other.environment, input, SUCCESSIVE_HALVING);
    const rivals = {
      "other-adapters-best": elsewhere === null ? NO_OTHER : { choice: elsewhere.best },
      ...(exhaustive !== null && { exhaustive }),
    };
    yield* compete(main, name, input, found.best, rivals, context);
    if (other !== undefined && elsewhere !== null) {
      yield* compete(other, name, input, elsewhere.best, { "other-adapters-best": { choice: found.best } }, context);
    }
  }
};

/** Both searches in turn, each in a fresh process; only one where the whole space is not searched. */
async function searchInTurn(
  { device, environment }: Adapter,
  name: string,
  input: TunerCase,
  { bench, rounds }: BenchContext,
): Promise<{ readonly found: SearchOutcome; readonly exhaustive: Rival | null; readonly rows: readonly Row[] }> {
  const found = await searchKernel(environment, input, SUCCESSIVE_HALVING);
  if (!input.exhaustive) return { found, exhaustive: null, rows: [] };
  const ours: SearchOutcome[] = [found];
  const theirs: SearchOutcome[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round > 0) ours.push(await searchKernel(environment, input, SUCCESSIVE_HALVING));
    theirs.push(await searchKernel(environment, input, EXHAUSTIVE));
  }
  const row = { bench, case: name, rounds, device: device.name, software: device.software };
  return { found, ...compareSearches(row, ours, theirs) };
}

/** Times the choices on one adapter, in turn. A missing choice is a row with the reason. */
function compete(
  { device, environment }: Adapter,
  name: string,
  input: TunerCase,
  best: Choice,
  rivals: Readonly<Record<string, Rival>>,
  context: BenchContext,
): AsyncGenerator<Row> {
  const run = inProcess<object>(new URL("./tuner/chosen-kernel.ts", import.meta.url), environment);
  const choose =
    (rival: Rival): Contender<TunerCase> =>
    (problem) =>
      "reason" in rival ? Promise.reject(new Error(rival.reason)) : run({ ...problem, choice: rival.choice });
  const peers = { default: { choice: {} }, textbook: { choice: { variant: input.textbook } }, ...rivals };
  return runContest<TunerCase>(
    {
      metrics: { time: { unit: "ms", better: "lower" } },
      cases: [{ name, input }],
      device,
      ours: choose({ choice: best }),
      peers: Object.fromEntries(Object.entries(peers).map(([peer, rival]) => [peer, choose(rival)])),
      check: checkAgainstReference,
    },
    context,
  );
}

function cube(size: number): Record<"m" | "n" | "k", number> {
  return { m: size, n: size, k: size };
}
