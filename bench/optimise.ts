import { openModelStand } from "../src/gpu-runner/kinds/optimisation/open-model-stand.ts";
import type { TrialStand } from "../src/gpu-runner/kinds/optimisation/search-problem.ts";
import type { OptimisationSpec } from "../src/protocol/jobs/optimisation.ts";
import { createId } from "../src/protocol/wire/id.ts";
import { FIRST_VARIANT } from "../src/protocol/models/model.ts";
import { DEFAULT_CONFIGURATION } from "../src/protocol/fleet/serving.ts";
import type { Bench, BenchContext } from "./benches.ts";
import { contest } from "./optimise/contest.ts";
import { measureAll } from "./optimise/measure-all.ts";
import { openModel } from "./optimise/open-model.ts";
import { type OptimisedModel, readOptimisedModels } from "./optimise/optimised-models.ts";
import { search, type SearchEnd } from "./optimise/search.ts";
import { createRow, type Metric } from "./row.ts";

/** Duration of one measurement in searches and passes, and in the contest of their results. */
const TRIAL_MS = 250;
const CONTEST_MS = 1_000;

const THROUGHPUT: Metric = { unit: "1/s", better: "higher" };
const TRIALS: Metric = { unit: "trials", better: "lower" };
const TIME: Metric = { unit: "ms", better: "lower" };

/**
 * Searches the best way to serve models on this machine's devices, in turn with passes that measure every configuration
 * of the same space, a search and a pass a round. Then each search's result, the best of all passes, and the default
 * are measured again, in turn.
 */
export const benchOptimise: Bench = async function* benchOptimise(options) {
  for (const model of await readOptimisedModels()) yield* optimise(model, options);
};

async function* optimise(model: OptimisedModel, { bench, rounds, say }: BenchContext): ReturnType<Bench> {
  const opened = await openModel(model);
  const open = (trialMs: number) => openModelStand(PROBLEM, opened.model, trialMs, opened.context);
  const [quick, thorough] = [await open(TRIAL_MS), await open(CONTEST_MS)];
  try {
    const device = opened.context.fleet.cpu.host.device;
    const found: SearchEnd[] = [];
    const passes: (readonly number[])[] = [];
    for (let round = 0; round < rounds; round++) {
      say(`${bench}: ${model.name}, round ${round + 1} of ${rounds}, a search`);
      found.push(await search(quick, { ...PROBLEM, seed: round + 1 }));
      say(`${bench}: ${found[round]!.trials} trials; now all ${quick.eligible}`);
      passes.push(await measureAll(quick));
    }
    say(`${bench}: what was found, in turn`);
    const ends = await contest(thorough, found, passes, (place) => say(`${bench}: ${describe(quick, place)}`));
    const row = { bench, case: model.name, rounds, device: device.name, software: device.software };
    yield createRow(row, ["throughput", THROUGHPUT], ends.found, { name: "exhaustive", values: ends.exhaustive });
    yield createRow(row, ["throughput", THROUGHPUT], ends.found, { name: "default", values: ends.default });
    const costs = { name: "exhaustive", values: passes.map((pass) => pass.length) };
    yield createRow(
      row,
      ["trials", TRIALS],
      found.map(({ trials }) => trials),
      costs,
    );
    yield createRow(
      row,
      ["decision", TRIALS],
      found.map(({ decisions }) => decisions),
      null,
    );
    yield createRow(
      row,
      ["search", TIME],
      found.map(({ spentMs }) => spentMs),
      null,
    );
  } finally {
    await Promise.all([quick.close(), thorough.close()]);
    await opened.close();
  }
}

/** Problem for a runner that has the model: the most requests a second, by any means. */
const PROBLEM: Pick<OptimisationSpec, "space" | "objective" | "targets" | "standing" | "seed"> = {
  space: {},
  objective: "throughput",
  targets: { percentile: 0.99, minFidelity: 0 },
  standing: {
    placementId: createId("placement"),
    deviceKey: "cpu",
    backend: "ort-cpu",
    variant: FIRST_VARIANT,
    configuration: DEFAULT_CONFIGURATION,
  },
  seed: 1,
};

function describe({ candidates }: TrialStand, place: number): string {
  const { deviceKey, variant, threads, maxRows, concurrency } = candidates[place]!;
  return `${variant} on ${deviceKey}, ${threads} threads, ${maxRows} rows, ${concurrency} in flight`;
}
