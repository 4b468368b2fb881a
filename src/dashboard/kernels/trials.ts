import type { StoredTuning, StoredTuningRecord, TuningTrial } from "../../protocol/jobs/tuning.ts";
import { median } from "../../stats/distribution/summary.ts";

/** A trial with the time to compare it by. */
export interface TimedTrial {
  readonly trial: TuningTrial;
  readonly ms: number;
  /** Mark of the trial in the plot. */
  readonly mark: "best" | "default" | "timed" | "too-slow";
}

/** The trials that were timed, the fastest first: each by the median of its last runs. */
export function listTimedTrials(tuning: StoredTuning, trials: readonly TuningTrial[]): TimedTrial[] {
  return trials
    .flatMap((trial) => {
      const ms = medianOfLast(trial);
      return ms === null ? [] : [{ trial, ms, mark: markOf(trial, tuning) }];
    })
    .toSorted((a, b) => a.ms - b.ms);
}

/** The median of a trial's last rung; null for what was never timed. */
export function medianOfLast({ rungsMs }: TuningTrial): number | null {
  const runs = rungsMs.findLast((rung) => rung.length > 0);
  return runs === undefined ? null : median(runs);
}

type Choice = Pick<TuningTrial, "variant" | "axes">;

function markOf(trial: TuningTrial, { best, untuned }: StoredTuning): TimedTrial["mark"] {
  if (isSameChoice(trial, best)) return "best";
  if (untuned !== null && isSameChoice(trial, untuned)) return "default";
  return trial.outcome === "too-slow" ? "too-slow" : "timed";
}

/** Whether two are the same variant with the same values of its axes. */
function isSameChoice(a: Choice, b: Choice): boolean {
  return a.variant === b.variant && Object.keys(a.axes).every((name) => a.axes[name] === b.axes[name]);
}

/** Variant of a tuning, and the two axes to plot; null if it has no second axis. */
export interface LandscapeChoice {
  readonly variant: string;
  readonly across: string | null;
  readonly down: string | null;
}

/** The fastest of the candidates that share two values. */
export interface LandscapeCell {
  readonly ms: number | null;
  /** `null`: none was in the search. */
  readonly outcome: TuningTrial["outcome"] | null;
  readonly isBest: boolean;
  readonly isDefault: boolean;
  /** From 0, the slowest of the landscape, to 9, the fastest, by the logarithm; null without a time. */
  readonly shade: number | null;
}

/** The candidates of a variant over the values of two axes. */
export interface Landscape {
  readonly columns: readonly number[];
  readonly rows: readonly number[];
  /** Cells by row, then column. */
  readonly cells: readonly (readonly LandscapeCell[])[];
  /** Axes along which each cell is the best of all values. */
  readonly others: readonly string[];
}

const SHADES = 9;

/** Variants of a search with the axes that were tried, in the order of the trials. */
export function listAxes({ trials }: Pick<StoredTuningRecord, "trials">): ReadonlyMap<string, readonly string[]> {
  return new Map(trials.map(({ variant, axes }) => [variant, Object.keys(axes)]));
}

/** The choice that a text such as `register-tiled,lanesN,lanesM` stands for; what it does not say follows from the best. */
export function readChoice(text: string | null, record: StoredTuningRecord): LandscapeChoice {
  const [wanted = "", across = "", down = ""] = text?.split(",") ?? [];
  const byVariant = listAxes(record);
  const variant = byVariant.has(wanted) ? wanted : record.tuning.best.variant;
  const axes = byVariant.get(variant) ?? [];
  const first = axes.includes(across) ? across : (axes[0] ?? null);
  const rest = axes.filter((axis) => axis !== first);
  return { variant, across: first, down: rest.includes(down) ? down : (rest[0] ?? null) };
}

/** The text of a choice, for the address. */
export function writeChoice({ variant, across, down }: LandscapeChoice): string {
  return [variant, across ?? "", down ?? ""].join().replace(/,+$/, "");
}

/** Lays the candidates of one variant out over two of its axes. */
export function layOutLandscape({ tuning, trials }: StoredTuningRecord, choice: LandscapeChoice): Landscape {
  const { variant, across, down } = choice;
  const own = trials.filter((trial) => trial.variant === variant);
  const columns = valuesOf(own, across);
  const rows = valuesOf(own, down);
  const sharing = rows.map((row) =>
    columns.map((column) => own.filter((trial) => has(trial, across, column) && has(trial, down, row))),
  );
  const fastest = sharing.map((line) => line.map(timeOf));
  const times = fastest.flat().filter((ms) => ms !== null);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  return {
    columns,
    rows,
    cells: sharing.map((line, row) =>
      line.map((shared, column) => {
        const ms = fastest[row]?.[column] ?? null;
        return {
          ms,
          outcome: shared.find((trial) => medianOfLast(trial) === ms)?.outcome ?? shared[0]?.outcome ?? null,
          isBest: shared.some((trial) => isSameChoice(trial, tuning.best)),
          isDefault: tuning.untuned !== null && shared.some((trial) => isSameChoice(trial, tuning.untuned!)),
          shade: ms === null ? null : shadeOf(ms, low, high),
        };
      }),
    ),
    others: Object.keys(own[0]?.axes ?? {}).filter((axis) => axis !== across && axis !== down),
  };
}

function valuesOf(trials: readonly TuningTrial[], axis: string | null): number[] {
  if (axis === null) return [Number.NaN];
  return [...new Set(trials.flatMap(({ axes }) => axes[axis] ?? []))].toSorted((a, b) => a - b);
}

function has({ axes }: TuningTrial, axis: string | null, value: number): boolean {
  return axis === null || axes[axis] === value;
}

function timeOf(trials: readonly TuningTrial[]): number | null {
  const times = trials.map(medianOfLast).filter((ms) => ms !== null);
  return times.length === 0 ? null : Math.min(...times);
}

function shadeOf(ms: number, low: number, high: number): number {
  return high <= low ? SHADES : Math.round((SHADES * Math.log(high / ms)) / Math.log(high / low));
}
