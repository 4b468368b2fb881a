import type { Device } from "../../../protocol/fleet/hardware.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { FOUR_WEEKS_MS } from "./rollup-store.ts";

/** Dimensions of live requests, by the names of metrics; null for series without one. */
export interface RequestPlace {
  readonly project: string;
  readonly model: string;
  readonly variant: string | null;
  readonly backend: string | null;
  /** Name of the adapter, or of the processor. */
  readonly hardware: string | null;
}

/** Sum of all measurements of a metric there. */
export interface RequestSum extends RequestPlace {
  readonly metric: string;
  readonly count: number;
  readonly sum: number;
}

/** Part of the total latencies there. */
export interface RequestSketch extends RequestPlace {
  readonly count: number;
  readonly sum: number;
  readonly sketch: string;
}

/** A runner with its devices. */
export interface MetricRunner {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly devices: readonly { readonly kind: Device["kind"]; readonly software: boolean }[];
}

/** Alerts of a project in a state. */
interface AlertCount {
  readonly project: string;
  readonly state: string;
  readonly direction: string;
  readonly count: number;
}

/** Rows from the database for metrics, as of one moment. */
export interface MetricRows {
  readonly requests: {
    readonly sums: readonly RequestSum[];
    /** Empty where there are more than one answer reads: a part would be wrong. */
    readonly sketches: readonly RequestSketch[];
  };
  readonly isWithoutSketches: boolean;
  /** Number of request series left out, beyond the limit. */
  readonly droppedSeries: number;
  readonly runners: readonly MetricRunner[];
  readonly alerts: readonly AlertCount[];
}

/** Metrics of live requests; refusals have their reason after a dot. */
const METRICS = `(metric in ('totalMs', 'lostMs', 'rows', 'inTime', 'edgeMs', 'linkMs', 'queueMs', 'uploadMs', 'computeMs', 'readbackMs')
  or metric like 'refused.%')`;
/** A calibration's link latency is not a request's. */
const OF_REQUESTS = `subject_kind = 'model' and label is null and ${METRICS}
  and (metric <> 'linkMs' or key ->> '$.clock' = 'edge-wall')`;

/**
 * All measurements of these series: the widest rollups, which are kept for ever, and points not yet rolled up. So no
 * sum ever decreases, whatever is deleted.
 */
const PARTS = `
  chosen as (select no, project, subject as model, metric, key ->> '$.configuration.variant' as variant,
      key ->> '$.configuration.backend' as backend,
      coalesce(key ->> '$.fingerprint.adapter', key ->> '$.fingerprint.cpu') as hardware
    from series where ${OF_REQUESTS} order by no limit ?1),
  parts as (
    select series_no, count, sum, sketch from rollups
      where series_no in (select no from chosen) and step_ms = ${FOUR_WEEKS_MS}
    union all
    select series_no, count, sum, sketch from points
      where seq > (select rolled_seq from history_state) and +series_no in (select no from chosen))`;

const STATE = `case when online then iif(draining, 'draining', 'online') when connected_at_ms is null then 'registered'
  else 'offline' end`;

/** Reads all in one transaction, with one round trip to the database. */
export async function readMetricRows(binding: D1Database): Promise<MetricRows> {
  const { metricStoredSeries, metricSketches } = LIMITS;
  const [sums, sketches, stored, runners, alerts] = await binding.batch<Record<string, unknown>>([
    binding
      .prepare(
        `with ${PARTS} select project, model, variant, backend, hardware, metric, sum(count) as count, sum(sum) as sum
         from parts join chosen on no = series_no group by 1, 2, 3, 4, 5, 6 order by min(no)`,
      )
      .bind(metricStoredSeries),
    binding
      .prepare(
        `with ${PARTS} select project, model, variant, backend, hardware, count, sum, sketch
         from parts join chosen on no = series_no where metric = 'totalMs' order by no limit ?2`,
      )
      .bind(metricStoredSeries, metricSketches + 1),
    binding.prepare(`select count(*) as count from series where ${OF_REQUESTS}`),
    binding.prepare(
      `select id, name, ${STATE} as state, (select json_group_array(json_object('kind', value ->> 'kind',
         'software', value ->> 'software')) from json_each(capabilities, '$.devices')) as devices
       from runners where removed_at_ms is null order by id`,
    ),
    binding.prepare(
      "select project, state, direction, count(*) as count from alerts group by 1, 2, 3 order by 1, 2, 3",
    ),
  ]);
  const rows = <Row>(result: D1Result | undefined) => (result?.results ?? []) as Row[];
  const [{ count } = { count: 0 }] = rows<{ count: number }>(stored);
  const isTooMuch = rows(sketches).length > metricSketches;
  return {
    requests: { sums: rows(sums), sketches: isTooMuch ? [] : rows(sketches) },
    isWithoutSketches: isTooMuch,
    droppedSeries: Math.max(0, count - metricStoredSeries),
    runners: rows<Omit<MetricRunner, "devices"> & { devices: string }>(runners).map(toRunner),
    alerts: rows(alerts),
  };
}

function toRunner({ devices, ...row }: Omit<MetricRunner, "devices"> & { devices: string }): MetricRunner {
  const parsed = JSON.parse(devices) as { kind: Device["kind"]; software: number }[];
  return { ...row, devices: parsed.map(({ kind, software }) => ({ kind, software: software === 1 })) };
}
