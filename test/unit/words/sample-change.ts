import type { Change } from "../../../src/protocol/history/alert.ts";

/** An instant by its seconds. */
export function instant(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** A step from 10 to 11 ms at this second, the point before it a second earlier. */
export function aChange(seconds: number, changes: Partial<Change> = {}): Change {
  return {
    id: `chg_${seconds}`,
    alertId: "alt_1",
    kind: "step",
    direction: "regression",
    statistic: "p50",
    from: 10,
    to: 11,
    relativeChange: 0.1,
    interval: { low: 0.09, high: 0.11 },
    p: 1e-9,
    confidence: 1,
    noiseFloor: null,
    pointsBefore: 40,
    pointsAfter: 20,
    completeAt: instant(seconds),
    oldRange: null,
    previousRunId: null,
    previousRevision: null,
    returnedAt: null,
    withdrawnAt: null,
    limits: null,
    thresholdId: null,
    after: instant(seconds - 1),
    at: instant(seconds),
    runId: null,
    revision: null,
    createdAt: instant(seconds),
    series: {
      id: "ser_1",
      subjectKind: "kernel",
      subject: "gemm",
      metric: "wallMs",
      unit: "ms",
      direction: "lower",
      configuration: {},
      label: "main",
      fingerprintId: null,
    },
    ...changes,
  };
}
