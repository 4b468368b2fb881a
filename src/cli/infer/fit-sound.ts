import type { TensorSpec } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Sound } from "./decode-wav.ts";
import type { FittedInput } from "./fitted-input.ts";

/**
 * A sound as an input of samples: resampled linearly where another rate is wanted, which does not keep what is above
 * half of that rate out of it; then cut at the end, or filled up with silence.
 */
export function fitSound({ rateHz, samples }: Sound, spec: TensorSpec, wantedHz = rateHz): FittedInput {
  const length = lengthOf(spec) ?? Math.max(1, Math.floor((samples.length * wantedHz) / rateHz));
  const step = rateHz / wantedHz;
  const data = Array.from({ length }, (_, index) => {
    const at = Math.floor(index * step);
    const weight = index * step - at;
    // At the original rate a sample is itself; there is none behind the last one.
    return (1 - weight) * (samples[at] ?? 0) + weight * (samples[at + 1] ?? 0);
  });
  const shape = spec.shape.map((_, place) => (place === spec.shape.length - 1 ? length : 1));
  const rate = wantedHz === rateHz ? `${rateHz} Hz` : `${rateHz} Hz as ${wantedHz} Hz, linearly`;
  const heardMs = (1e3 * Math.min(length, samples.length / step)) / wantedHz;
  return {
    tensor: { dtype: spec.dtype, shape, data },
    note: `${samples.length} samples at ${rate}: the first ${heardMs.toFixed(0)} ms as ${length} values`,
  };
}

/** How many samples the input takes; null where it takes any number. */
function lengthOf({ name, dtype, shape }: TensorSpec): number | null {
  const length = shape.at(-1) ?? 0;
  const isSamples = shape.length >= 2 && shape.slice(1, -1).every((size) => size === 1);
  if (isSamples && dtype.startsWith("float")) return length === -1 ? null : length;
  throw new ProblemError(
    "invalid-request",
    `The input ${name} of ${dtype} [${shape.join(", ")}] takes no samples: make what it wants, and give it as JSON.`,
  );
}
