import type { NetworkTuning } from "../../protocol/jobs/tuning.ts";
import type { NetworkLayout, NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { isSurelyLarger, ratioOfMedians } from "../../stats/compare/resample-medians.ts";
import { summarise } from "../../stats/distribution/distribution.ts";
import { type CallContext, createReporter } from "../devices/progress.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import { chooseLayout, type LayoutTrial } from "./choose-layout.ts";
import type { Network } from "./network.ts";
import { type NetworkContext, openNetworkBy } from "./open-network.ts";

export interface TuneNetworkRequest {
  readonly model: ModelContent;
  /** Inputs at each of the sizes to tune. */
  readonly samples: readonly (readonly Tensor[])[];
  /** Layouts that serving has now. */
  readonly layouts: NetworkLayouts;
  readonly budgetMs: number;
}

export interface TunedNetwork {
  readonly sizes: NetworkTuning["sizes"];
  /** Number of the sizes that the budget left out. */
  readonly sizesLeft: number;
  /** What serving should have from now on, by sizes. */
  readonly layouts: NetworkLayouts;
}

/** Share of the time in which candidates are tried; in the rest, the best of them runs in turn with the one before. */
const TRIAL_SHARE = 0.6;
/** Turns between the layout before and the best candidate. */
const MOST_ROUNDS = 24;

type Reporter = ReturnType<typeof createReporter>;

/**
 * Measures the layouts of a network anew at each of these sizes, within about `budgetMs`, as `chooseLayout` does. The
 * fastest then runs in turn with the layout before, and replaces it where it is surely faster. Sizes of one plan are
 * measured at the first of them. Once the budget is spent, the sizes that follow are left out. Fails with
 * `invalid-model`, `cancelled`, or as a request of these inputs would.
 */
export async function tuneNetwork(
  context: NetworkContext,
  { model, samples, layouts, budgetMs }: TuneNetworkRequest,
  { onProgress, signal }: Pick<CallContext, "onProgress" | "signal">,
): Promise<TunedNetwork> {
  if (!(model instanceof Uint8Array)) throw new ProblemError("invalid-model", "It reads networks of one file only.");
  const startedAt = performance.now();
  const report = createReporter(onProgress, signal);
  const sizes: NetworkTuning["sizes"] = [];
  const found: Record<string, NetworkLayout> = {};
  let at = 0;
  const opened = await openNetworkBy(context, model, async (network, key) => {
    const shareMs = (budgetMs - (performance.now() - startedAt)) / (samples.length - at);
    const phase = (name: string) => (samples.length > 1 ? `${name}, size ${at + 1} of ${samples.length}` : name);
    const options = { before: layouts[key], inputs: samples[at]!, budgetMs: shareMs, report, phase };
    const { size, layout } = await tuneAtSize(network, context.device, options);
    await network.spread(layout);
    found[key] = layout;
    sizes.push(size);
  });
  try {
    // A network that needs its sizes first is planned when it runs. Each size takes a trial, a turn and a run, however
    // little time is left.
    for (; at < samples.length && (at === 0 || performance.now() - startedAt < budgetMs); at++) {
      await opened.run(samples[at]!);
    }
  } finally {
    await opened.close();
  }
  return { sizes, sizesLeft: samples.length - at, layouts: found };
}

async function tuneAtSize(
  network: Network,
  device: GPUDevice,
  {
    before: kept,
    inputs,
    budgetMs,
    report,
    phase,
  }: {
    readonly before: NetworkLayout | undefined;
    readonly inputs: readonly Tensor[];
    readonly budgetMs: number;
    readonly report: Reporter;
    readonly phase: (name: string) => string;
  },
): Promise<{ readonly size: NetworkTuning["sizes"][number]; readonly layout: NetworkLayout }> {
  const startedAt = performance.now();
  const rows = rowsOf(network, inputs);
  const choice = await chooseLayout(network, device, {
    budgetMs: TRIAL_SHARE * budgetMs,
    rows,
    onTrial: (done, total) => report(phase("try layouts"))(done, total),
  });
  const before = kept !== undefined && (await network.trySpread(kept)) ? kept : choice.trials[0]!.layout;
  const isSame = isSameLayout(before, choice.layout);
  const contest = isSame ? [before] : [before, choice.layout];
  const runsMs = await takeTurns(network, contest, rows, startedAt + budgetMs, report(phase("compare")));
  const [beforeMs, challengerMs] = [runsMs[0]!, runsMs.at(-1)!];
  const gain = ratioOfMedians(beforeMs, challengerMs);
  const wins = !isSame && isSurelyLarger(gain, beforeMs, challengerMs);
  const old = { layout: before, ms: summarise(beforeMs) };
  const size = {
    inputs: Object.fromEntries(inputs.map(({ name, shape }) => [name, [...shape]])),
    trials: choice.trials.map(describeTrial),
    before: old,
    after: wins ? { layout: choice.layout, ms: summarise(challengerMs) } : old,
    gain: wins ? gain : { ratio: 1, low: 1, high: 1 },
    complete: choice.complete,
  };
  return { size, layout: wins ? choice.layout : before };
}

/** Rows to measure with. Inputs that settle the sizes are none of the plan's. */
function rowsOf(network: Network, inputs: readonly Tensor[]): number {
  if (!network.hasRows) return 1;
  const [first] = network.examples(1);
  const rows = inputs.find(({ name }) => name === first?.name)?.shape[0] ?? 1;
  return Math.min(rows, network.rowsAtMost);
}

function isSameLayout(one: NetworkLayout, other: NetworkLayout): boolean {
  return (Object.keys(one) as (keyof NetworkLayout)[]).every((field) => one[field] === other[field]);
}

/** Times layouts in turn, at least once each, until the time ends. The first run after a change is not counted. */
async function takeTurns(
  network: Network,
  layouts: readonly NetworkLayout[],
  rows: number,
  untilMs: number,
  report: (done: number, total: number) => void,
): Promise<number[][]> {
  const inputs = network.examples(rows);
  const runsMs: number[][] = layouts.map(() => []);
  for (let round = 0; round < MOST_ROUNDS && (round === 0 || performance.now() < untilMs); round++) {
    for (const [place, layout] of layouts.entries()) {
      report(round, MOST_ROUNDS);
      await network.spread(layout);
      await network.run(inputs);
      const startedAt = performance.now();
      await network.run(inputs);
      runsMs[place]!.push(performance.now() - startedAt);
    }
  }
  return runsMs;
}

function describeTrial({ layout, ms, reason }: LayoutTrial): NetworkTuning["sizes"][number]["trials"][number] {
  return { layout, ms, reason: reason?.slice(0, LIMITS.tuningReasonLength) ?? null };
}
