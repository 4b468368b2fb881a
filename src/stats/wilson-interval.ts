import { normalQuantile } from "./normal.ts";

/**
 * The interval of 95 % round a share of `count` in `trials` (Wilson, "Probable inference, the law of succession, and
 * statistical inference", JASA 22, 1927). It has a width where all or none were met, and stays within 0 and 1. Throws a
 * RangeError without trials.
 */
export function wilsonInterval(count: number, trials: number): { readonly low: number; readonly high: number } {
  if (!(trials > 0)) throw new RangeError("there is no share of nothing");
  const z = normalQuantile(0.975);
  const share = count / trials;
  const centre = (share + z ** 2 / (2 * trials)) / (1 + z ** 2 / trials);
  const reach = (z / (1 + z ** 2 / trials)) * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2));
  return { low: count === 0 ? 0 : centre - reach, high: count === trials ? 1 : centre + reach };
}
