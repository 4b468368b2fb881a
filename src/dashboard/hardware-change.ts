import type { HardwareSpan } from "../protocol/detection.ts";
import type { Fingerprint } from "../protocol/hardware.ts";

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
