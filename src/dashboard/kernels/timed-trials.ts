import type { StoredTuning, TuningTrial } from "../../protocol/tuning.ts";
import { median } from "../../stats/median.ts";

/** A trial with the time to compare it by. */
export interface TimedTrial {
  readonly trial: TuningTrial;
  readonly ms: number;
  /** What it is drawn as. */
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
export function isSameChoice(a: Choice, b: Choice): boolean {
  return a.variant === b.variant && Object.keys(a.axes).every((name) => a.axes[name] === b.axes[name]);
}
