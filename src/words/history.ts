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
  /** The change, such as `driver 1 to 2`. */
  readonly text: string;
}

/** Points at which a series continues one from other hardware, or is continued by another one. */
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

/** Differences between two fingerprints, in words. */
export function describeHardwareChange(before: Fingerprint | null, after: Fingerprint | null): string {
  if (before === null || after === null) return "other hardware";
  const parts = PARTS.filter((part) => before[part] !== after[part]).map(
    (part) => `${NAMES[part]} ${before[part] ?? "none"} to ${after[part] ?? "none"}`,
  );
  if (before.toggles.join() !== after.toggles.join()) parts.push("Dawn toggles");
  return parts.length === 0 ? "other hardware" : parts.join(", ");
}

/** A subject with its kind, such as `kernel gemm`. */
export function nameSubject({ subjectKind, subject }: Series): string {
  return `${subjectKind} ${subject}`;
}

/** The device, settings and label that distinguish series of one subject and metric. */
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
