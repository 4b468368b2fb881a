import type { CompressionResult } from "../../protocol/compression.ts";
import type { SeriesKey } from "../../protocol/series.ts";
import type { Measurement } from "../store/point-store.ts";
import { type RunContext, single } from "./result-measurements.ts";

/** What a compression leaves in the history of its model, by variant: its fidelity, and its size beside its parent's. */
export function measureCompression(result: CompressionResult, run: RunContext): Measurement[] {
  const { model, variant, fidelity, file, parentBytes, environment } = result;
  const point = (
    metric: string,
    unit: string,
    direction: SeriesKey["direction"],
    value: number,
    configuration: SeriesKey["configuration"],
  ): Measurement => ({
    key: {
      subjectKind: "model",
      subject: model,
      metric,
      unit,
      clock: null,
      direction,
      configuration: { variant, ...configuration },
      fingerprint: environment.fingerprint,
      software: environment.software,
      label: run.label,
    },
    atMs: run.atMs,
    project: run.project,
    sourceId: run.runId,
    runId: run.runId,
    aggregate: single(value),
  });
  const basis = fidelity.basis === "metric" ? fidelity.metric : fidelity.basis;
  return [
    point("fidelity", "share", "higher", fidelity.value, { basis }),
    point("sizeShare", "share", "lower", file.sizeBytes / parentBytes, {}),
  ];
}
