import { LIMITS } from "../../protocol/limits.ts";
import type { RunSamples } from "../../protocol/run-samples.ts";

type Timed = Pick<RunSamples["measurements"][number], "metric" | "clock"> & {
  readonly valuesMs: ArrayLike<number> | null;
};

/** What a kernel's run timed, as JSON that travels beside its result; null where that would be over the limit. */
export function writeSamples(subject: string, timed: readonly Timed[]): string | null {
  const measurements = timed.flatMap(({ metric, clock, valuesMs }) =>
    valuesMs === null ? [] : [{ subject, metric, unit: "ms", clock, values: Array.from(valuesMs) }],
  );
  const samples: RunSamples = { measurements };
  const text = JSON.stringify(samples);
  return Buffer.byteLength(text) > LIMITS.samplesBytes ? null : text;
}
