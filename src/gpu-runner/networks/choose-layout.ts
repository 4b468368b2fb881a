import { type NetworkLayout, PLAIN } from "../../protocol/models/network-layout.ts";
import { toProblem } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { isEmulated } from "../host/hardware/device-names.ts";
import { AGREEMENT, agreementAt, maxRelativeError } from "./compare-outputs.ts";
import type { Network } from "./network.ts";

/** Work from which an operator is spread over workgroups: large ones; none, so that one dispatch has all; every one. */
const SPREADS = [30_000, Number.MAX_SAFE_INTEGER, 0] as const;
const LANES = [64, 256];
/**
 * An emulated device computes four lanes at a time and compiles slowly; with more lanes, barriers switch between groups
 * of four.
 */
const SOFTWARE_LANES = [4];
/** The likeliest first, since a load may end before all are tried. Dispatches are cheap on a GPU, so slices take most. */
const TILED: readonly Partial<NetworkLayout>[] = [
  { tiling: "by-size", spreadFrom: SPREADS[0] },
  { tiling: "in-slices", spreadFrom: SPREADS[0] },
  { tiling: "by-size", spreadFrom: 0 },
  { tiling: "in-registers" },
];
/** Workgroup memory, barriers and large tiles never pay where one core is a whole workgroup. */
const SOFTWARE_TILED: readonly Partial<NetworkLayout>[] = [{ tiling: "in-registers" }];
/** What is tried on the fastest layout, one after the other, where lanes are many: wider work, and fewer dispatches. */
const WIDER: readonly Partial<NetworkLayout>[] = [
  { hasAttention: true },
  { lineLanes: 64 },
  { lineLanes: 256 },
  { groupsAtMost: 1024 },
];
/**
 * Tried last, since answers differ by the rounding of activations. Software devices emulate products of packed numbers,
 * and slices want many lanes.
 */
const NARROW: Partial<NetworkLayout> = { hasNarrowProducts: true };
const RUNS = 4;
/** Short runs are repeated for so long: the host's share of them varies. */
const SHORT_RUNS_MS = 20;
/** Time for the runs of a candidate. The fastest counts, since other work on the machine delays single ones. */
const RUNS_MS = 1_000;
/** From here on a run is long, so that tiles may gain most. */
const LONG_MS = 100;
/** A candidate that takes so many times as long as the best one is not run again. */
const HOPELESS = 3;
/**
 * Time after which no further candidate is tried but the first tiles, at a load and within a request: with a
 * compilation and the request's own run, both have to end within the limit of one run. A real GPU tries all in less,
 * unless its driver compiles slowly.
 */
const LOAD_BUDGET_MS = 3_000;
const SOFTWARE_LOAD_BUDGET_MS = 10_000;
export const REQUEST_BUDGET_MS = 3_000;
/**
 * A first run in the one program may take the whole budget, and every later one would again. So the first tiles are tried
 * where a run of the same length would end within so many times the budget: on software devices 24 of the 30 s that a
 * load may take.
 */
const TILES_BUDGETS = 2.4;

export function loadBudgetMs(device: GPUDevice): number {
  return isSoftware(device) ? SOFTWARE_LOAD_BUDGET_MS : LOAD_BUDGET_MS;
}

function isSoftware({ adapterInfo }: GPUDevice): boolean {
  return isEmulated(adapterInfo);
}

/** A candidate that was tried: the milliseconds of its fastest run, or the reason why it was left out. */
export interface LayoutTrial {
  readonly layout: NetworkLayout;
  readonly ms: number | null;
  readonly reason: string | null;
}

export interface LayoutChoice {
  /** The fastest. */
  readonly layout: NetworkLayout;
  /** In the order of trial, the default first. */
  readonly trials: readonly LayoutTrial[];
  /** False where the time ended first. */
  readonly complete: boolean;
}

interface ChoiceOptions {
  /** Time after which no further candidate is tried. */
  readonly budgetMs: number;
  readonly rows?: number;
  /** Called before each candidate. */
  readonly onTrial?: (done: number, total: number) => void;
}

/**
 * Runs layouts with one row, or so many, and returns the fastest, since devices differ too much for a fixed choice. One
 * whose outputs differ from those of the first, in which the one program computes everything, is left out, as one that
 * fails. Tiles are tried with the fastest layout that has none, and wider work with the fastest of all.
 */
export async function chooseLayout(
  network: Network,
  device: GPUDevice,
  { budgetMs, rows = 1, onTrial = () => {} }: ChoiceOptions,
): Promise<LayoutChoice> {
  const [first, ...others] = listTogether(device);
  const inputs = network.examples(Math.min(rows, network.rowsAtMost));
  const begunAt = performance.now();
  const tiled = !isSoftware(device) ? TILED : network.hasTiles ? SOFTWARE_TILED : [];
  // Nor does a software device gain by more groups than it has cores.
  const wider = isSoftware(device) ? [] : [...WIDER, ...(network.narrowBits === null ? [] : [NARROW])];
  const total = 1 + others.length + tiled.length + wider.length;
  onTrial(0, total);
  await network.spread(first!);
  const { tensors: wanted, ms } = await timeRuns(network, inputs, Number.POSITIVE_INFINITY);
  let best = { layout: first!, ms };
  const trials: LayoutTrial[] = [{ ...best, reason: null }];
  const seen = new Set([keyOf(network)]);
  // Tiles compile slowly and gain most where a run is long. Other layouts of short ones share their program.
  const isLong = ms > LONG_MS;
  const startedAt = isLong ? begunAt : performance.now();
  const listTiled = () => tiled.map((change) => ({ ...best.layout, ...change }));
  const listWider = wider.map((change) => () => [{ ...best.layout, ...change }]);
  for (const list of [...(isLong ? [listTiled, () => others] : [() => others, listTiled]), ...listWider]) {
    const layouts = list();
    // A driver compiles them beside each other; a failure is that of the trial below.
    if (!isSoftware(device)) for (const layout of layouts) network.compile(layout).catch(() => {});
    for (const layout of layouts) {
      const passedMs = performance.now() - startedAt;
      const isFirst = isLong && list === listTiled && layout === layouts[0];
      const isOver = isFirst ? passedMs + best.ms > TILES_BUDGETS * budgetMs : passedMs > budgetMs;
      if (isOver) return { layout: best.layout, trials, complete: false };
      onTrial(trials.length, total);
      try {
        await network.spread(layout);
        if (seen.has(keyOf(network))) continue;
        seen.add(keyOf(network));
        const found = await timeRuns(network, inputs, best.ms);
        const limit = layout.hasNarrowProducts ? agreementAt(network.narrowBits) : AGREEMENT;
        const isRight = maxRelativeError(wanted, found.tensors) <= limit;
        trials.push({ layout, ...(isRight ? { ms: found.ms, reason: null } : { ms: null, reason: "other outputs" }) });
        if (!isRight || found.ms > HOPELESS * best.ms) continue;
        if (!isSoftware(device)) {
          // A GPU may have changed its clock since: an H200 took 2.4 times as long after a pause.
          await network.spread(best.layout);
          const again = await timeRuns(network, inputs, best.ms);
          if (again.isWarm) best = { layout: best.layout, ms: again.ms };
        }
        if (found.ms < best.ms) best = { layout, ms: found.ms };
      } catch (error) {
        // The first one suffices, whatever a device does not compile or hold.
        trials.push({ layout, ms: null, reason: toProblem(error).detail ?? String(error) });
      }
    }
  }
  return { layout: best.layout, trials, complete: true };
}

/** Layouts in which the one program computes everything. */
function listTogether(device: GPUDevice): NetworkLayout[] {
  const lanes = (isSoftware(device) ? SOFTWARE_LANES : LANES).filter(
    (each) => each <= device.limits.maxComputeInvocationsPerWorkgroup,
  );
  return lanes.flatMap((each) => SPREADS.map((spreadFrom) => ({ ...PLAIN, lanes: each, spreadFrom })));
}

/** Equal for layouts with the same dispatches. */
function keyOf(network: Network): string {
  return `${network.layout?.lanes} ${network.shape}`;
}

/**
 * Milliseconds of the fastest of several runs, and the outputs of the first. That one warms the device up, and counts
 * only where it is long, without any warm one.
 */
async function timeRuns(
  network: Network,
  inputs: readonly Tensor[],
  bestMs: number,
): Promise<{ ms: number; tensors: Tensor[]; isWarm: boolean }> {
  const startedAt = performance.now();
  const { tensors } = await network.run(inputs);
  let before = performance.now();
  const firstMs = before - startedAt;
  if (firstMs > RUNS_MS || firstMs > Math.max(LONG_MS, HOPELESS * bestMs))
    return { ms: firstMs, tensors, isWarm: false };
  let ms = Number.POSITIVE_INFINITY;
  for (let run = 0; before - startedAt < (run < RUNS ? RUNS_MS : SHORT_RUNS_MS); run++) {
    await network.run(inputs);
    const now = performance.now();
    ms = Math.min(ms, now - before);
    before = now;
  }
  return { ms, tensors, isWarm: true };
}
