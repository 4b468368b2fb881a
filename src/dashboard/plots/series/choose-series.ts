import type { Series } from "../../../protocol/history/series.ts";
import { nameSubject } from "../../../words/history.ts";

/** The reader's choices so far; the data decide the rest. */
export interface SeriesPick {
  readonly subject?: string;
  readonly metric?: string;
  readonly id?: string;
}

/** The options of each step, and the series that the pick comes down to. */
export interface SeriesChoice {
  readonly subjects: readonly string[];
  readonly metrics: readonly string[];
  readonly variants: readonly Series[];
  readonly chosen: Series | null;
}

/** Metrics that answer "how long does it take" best come first. */
const METRIC_ORDER = ["totalMs", "gpuMs", "wallMs", "serviceMs"];

/** Narrows the series by subject, then metric, then fingerprint and configuration; the freshest first. */
export function chooseSeries(series: readonly Series[], pick: SeriesPick): SeriesChoice {
  const fresh = series.toSorted((a, b) => (b.lastPointAt ?? "").localeCompare(a.lastPointAt ?? ""));
  const subjects = [...new Set(fresh.map(nameSubject))];
  const named = fresh.find(({ id }) => id === pick.id);
  const wanted = pick.subject ?? (named === undefined ? undefined : nameSubject(named));
  const subject = wanted !== undefined && subjects.includes(wanted) ? wanted : subjects[0];
  const ofSubject = fresh.filter((item) => nameSubject(item) === subject);
  const metrics = [...new Set(ofSubject.map(({ metric }) => metric))].toSorted((a, b) => rank(a) - rank(b));
  const measured = pick.metric ?? named?.metric;
  const metric = measured !== undefined && metrics.includes(measured) ? measured : metrics[0];
  const variants = ofSubject.filter((item) => item.metric === metric);
  return { subjects, metrics, variants, chosen: variants.find(({ id }) => id === pick.id) ?? variants[0] ?? null };
}

function rank(metric: string): number {
  const place = METRIC_ORDER.indexOf(metric);
  return place === -1 ? METRIC_ORDER.length : place;
}
