import type { Fingerprint } from "../protocol/fleet/hardware.ts";
import type { HardwareSpan } from "../protocol/history/detection.ts";
import type { Series } from "../protocol/history/series.ts";
import type { Clock } from "../protocol/wire/distribution.ts";

const CLOCKS: Record<Clock, string> = {
  "gpu-timestamp": "timestamp queries on the device",
  "runner-wall": "the runner's monotonic clock",
  "edge-wall": "the edge's clock, in steps of 1 ms",
};

/** The clock behind a series in words. */
export function describeClock({ clock }: { readonly clock: Clock | null }): string {
  return clock === null ? "not stated" : CLOCKS[clock];
}

/** The same series on other hardware, just before or just after. */
export interface HardwareChange {
  readonly at: string;
  /** The series on the other side of it. */
  readonly otherId: string;
  readonly isBefore: boolean;
  /** What changed, such as `driver 1 to 2`. */
  readonly text: string;
}

/** Where a series took over from one on other hardware, and where another one took over from it. */
export function findHardwareChanges(
  spans: readonly HardwareSpan[],
  id: string,
  fingerprints: ReadonlyMap<string, Fingerprint | null>,
): HardwareChange[] {
  const own = spans.find(({ seriesId }) => seriesId === id);
  if (own === undefined) return [];
  const others = spans.filter(({ seriesId }) => seriesId !== id);
  const before = others.filter(({ to }) => to < own.from).toSorted((a, b) => b.to.localeCompare(a.to))[0];
  const after = others.filter(({ from }) => from > own.to).toSorted((a, b) => a.from.localeCompare(b.from))[0];
  const name = (one: HardwareSpan, next: HardwareSpan) =>
    describeHardwareChange(fingerprints.get(one.seriesId) ?? null, fingerprints.get(next.seriesId) ?? null);
  return [
    ...(before === undefined
      ? []
      : [{ at: own.from, otherId: before.seriesId, isBefore: true, text: name(before, own) }]),
    ...(after === undefined
      ? []
      : [{ at: after.from, otherId: after.seriesId, isBefore: false, text: name(own, after) }]),
  ];
}

const PARTS = ["adapter", "driver", "dawn", "ort", "cpu"] as const;
const NAMES: Record<(typeof PARTS)[number], string> = {
  adapter: "device",
  driver: "driver",
  dawn: "Dawn",
  ort: "ONNX Runtime",
  cpu: "CPU",
};

/** What differs between two fingerprints, in words. */
export function describeHardwareChange(before: Fingerprint | null, after: Fingerprint | null): string {
  if (before === null || after === null) return "other hardware";
  const parts = PARTS.filter((part) => before[part] !== after[part]).map(
    (part) => `${NAMES[part]} ${before[part] ?? "none"} to ${after[part] ?? "none"}`,
  );
  if (before.toggles.join() !== after.toggles.join()) parts.push("Dawn toggles");
  return parts.length === 0 ? "other hardware" : parts.join(", ");
}

/** What a reader picked so far; what is not picked follows from what there is. */
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

/** A subject with its kind, such as `kernel gemm`. */
export function nameSubject({ subjectKind, subject }: Series): string {
  return `${subjectKind} ${subject}`;
}

/** What tells a series from others of the same subject and metric. */
export function nameVariant({ fingerprint, configuration, label }: Series): string {
  const settings = Object.entries(configuration).map(([name, value]) => `${name} ${value}`);
  return [nameHardware(fingerprint), ...settings, ...(label === null ? [] : [label])].join(" · ");
}

/** The device that a fingerprint is of. */
export function nameDevice(fingerprint: Series["fingerprint"]): string {
  return fingerprint === null ? "any device" : (fingerprint.adapter ?? fingerprint.cpu);
}

/** A device with its driver, where two of the same name differ by it. */
export function nameHardware(fingerprint: Series["fingerprint"]): string {
  return fingerprint?.driver == null
    ? nameDevice(fingerprint)
    : `${nameDevice(fingerprint)}, driver ${fingerprint.driver}`;
}

function rank(metric: string): number {
  const place = METRIC_ORDER.indexOf(metric);
  return place === -1 ? METRIC_ORDER.length : place;
}
