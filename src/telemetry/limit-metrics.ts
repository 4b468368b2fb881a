import type { MetricFamily } from "./metric.ts";

/**
 * Families of at most `maxSeries` series each, the first ones, and one more family that counts what was left out: a
 * scrape has a bound, whatever there is to tell.
 */
export function limitMetrics(families: readonly MetricFamily[], maxSeries: number): MetricFamily[] {
  const cut = families.map((family) => ({ ...family, samples: family.samples.slice(0, maxSeries) }) as MetricFamily);
  const dropped: MetricFamily = {
    name: "millrace_metrics_dropped_series",
    help: `Series that this reply leaves out, since a metric has at most ${maxSeries} here.`,
    type: "gauge",
    samples: families
      .filter(({ samples }) => samples.length > maxSeries)
      .map(({ name, samples }) => ({ labels: { metric: name }, value: samples.length - maxSeries })),
  };
  return [...cut, dropped];
}
