import type { StoredSeries } from "../../../src/edge/store/history/series-store.ts";

export const sampleSeries: StoredSeries = {
  no: 1,
  project: "main",
  id: `ser_${"a".repeat(26)}`,
  subjectKind: "benchmark",
  subject: "sort",
  metric: "wallMs",
  unit: "ms",
  clock: null,
  direction: "lower",
  configuration: { n: 1, m: 2 },
  fingerprint: null,
  software: false,
  label: "main",
  fingerprintId: null,
  mutedAtMs: null,
};
