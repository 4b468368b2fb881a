/** Labels that distinguish the series of a family. */
export type MetricLabels = Readonly<Record<string, string>>;

interface Described {
  /** With its base unit, such as `millrace_inference_seconds`; that of a counter ends in `_total`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
}

/** Histogram: number of values at most `upTo`, for rising bounds; `count` is of all. */
export interface HistogramSample {
  readonly labels: MetricLabels;
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** Summary without quantiles: its mean over any time is a rate of `sum` by a rate of `count`. */
export interface SummarySample {
  readonly labels: MetricLabels;
  readonly count: number;
  readonly sum: number;
}

/** One value under its labels. */
export interface ValueSample {
  readonly labels: MetricLabels;
  readonly value: number;
}

/** A metric with its series, the oldest first: the last ones are left out where they are too many. */
export type MetricFamily = Described &
  (
    | { readonly type: "counter" | "gauge"; readonly samples: readonly ValueSample[] }
    | { readonly type: "summary"; readonly samples: readonly SummarySample[] }
    | { readonly type: "histogram"; readonly samples: readonly HistogramSample[] }
  );

/**
 * Limits families to their first `maxSeries` series and adds one family that counts the omitted ones, so that a scrape
 * is bounded.
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
