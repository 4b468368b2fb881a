import type { ComparedPair, ComparedSide, ComparisonReply } from "../../../src/protocol/history/comparison.ts";

const side: ComparedSide = {
  seriesId: `ser_${"a".repeat(26)}`,
  label: "main",
  fingerprintId: `fpr_${"a".repeat(26)}`,
  runs: 20,
  samples: 800,
  value: 10,
  interval: { low: 9.9, high: 10.1 },
  min: 9,
  max: 12,
  from: "2026-03-01T00:00:00.000Z",
  to: "2026-03-02T00:00:00.000Z",
  latestRunId: null,
  latestRevision: null,
  truncated: false,
};

/** A pair whose B is `ratio` times A, by runs; `change` replaces the tested fields. */
export function samplePair(metric: string, ratio: number, change: Partial<ComparedPair> = {}): ComparedPair {
  return {
    key: {
      subjectKind: "benchmark",
      subject: "sort",
      metric,
      unit: "ms",
      clock: null,
      direction: "lower",
      configuration: { n: 1_000 },
    },
    a: side,
    b: { ...side, label: "change", value: 10 * ratio, runs: 12 },
    observation: "runs",
    ratio: { value: ratio, interval: { low: ratio - 0.02, high: ratio + 0.02 } },
    difference: { value: 10 * (ratio - 1), interval: { low: 10 * (ratio - 1.02), high: 10 * (ratio - 0.98) } },
    predicted: null,
    test: "mann-whitney",
    p: 0.001,
    adjustedP: 0.002,
    delta: 1,
    effect: "large",
    verdict: ratio > 1 ? "worse" : "better",
    summary: "What was found.",
    warnings: [],
    ...change,
  };
}

export function sampleReply(pairs: ComparedPair[], unpaired: ComparisonReply["unpaired"] = []): ComparisonReply {
  const resolved = { run: null, label: null, revision: null, device: null, from: null, to: null, last: null };
  return {
    a: {
      ...resolved,
      text: "baseline:main;last:30",
      baseline: { name: "main", source: "label" },
      series: pairs.length,
    },
    b: { ...resolved, text: "last:1", baseline: null, series: pairs.length + unpaired.length },
    statistic: "p50",
    minimumEffect: 0.01,
    confidence: 0.95,
    pairs,
    unpaired,
    notes: ["A note."],
  };
}

export function lonely(
  metric: string,
  reason: ComparisonReply["unpaired"][number]["reason"],
): ComparisonReply["unpaired"][number] {
  const { key } = samplePair(metric, 1);
  return { side: "b", seriesId: side.seriesId, key: { ...key, label: "change" }, reason };
}
