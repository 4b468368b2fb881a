/** Positions of values on one axis, and the labelled ones. */
export interface PlotScale {
  /** From 0 at the low end to 1 at the high one. */
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
}

export interface ScaleOptions {
  /** Approximate number of ticks. */
  readonly wanted: number;
  /** Only these ticks, on a logarithmic axis: batch sizes. */
  readonly ticks?: readonly number[] | undefined;
}

/** Ratio of values above which the axis is logarithmic. */
const LINEAR_RATIO = 30;

/** This many extra ticks are better than none between two decades. */
const FURTHER_TICKS = 4;

/** A scale that covers the values: linear with 0 where they are close together, else logarithmic. All are finite. */
export function scaleOf(values: readonly number[], { wanted, ticks }: ScaleOptions): PlotScale {
  if (ticks !== undefined) return logarithmic(ticks, ticks);
  const positive = values.filter((value) => value > 0);
  const high = Math.max(...positive, 0);
  const low = Math.min(...positive, high);
  const isWide = positive.length === values.length && low > 0 && high / low > LINEAR_RATIO;
  return isWide ? decades(low, high, wanted) : linear(Math.min(...values, 0), high, wanted);
}

/** From `low`, 0 or below it, to `high`, each widened to a round step: steps of 1, 2 or 5 times a power of ten. */
function linear(low: number, high: number, wanted: number): PlotScale {
  const step = roundStep((high - low || 1) / wanted);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => tidy((first + index) * step));
  return { ticks, place: (value) => (value / step - first) / (last - first) };
}

/** The smallest of 1, 2, 5, 10 times a power of ten that is not below `step`. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5, 10].find((digit) => digit * power >= step * (1 - 1e-9)) ?? 10);
}

/** From the last to the first of 1, 2, 5 times powers of ten that cover the values. */
function decades(low: number, high: number, wanted: number): PlotScale {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const fine = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    .flatMap((power) => [1, 2, 5].map((digit) => tidy(digit * 10 ** power)))
    .filter((_, index, all) => (all[index + 1] ?? Infinity) > low && (all[index - 1] ?? 0) < high);
  const coarse = fine.filter((tick) => Number.isInteger(tidy(Math.log10(tick))));
  return logarithmic(fine, fine.length <= wanted + FURTHER_TICKS || coarse.length < 2 ? fine : coarse);
}

function logarithmic(covered: readonly number[], ticks: readonly number[]): PlotScale {
  const from = Math.log(Math.min(...covered));
  const range = Math.log(Math.max(...covered)) - from;
  // A single value is placed in the middle.
  return { ticks, place: (value) => (range === 0 ? 0.5 : (Math.log(value) - from) / range) };
}

/** Rounds off the last digits of a product. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
