import type { ChangeEvidence, FoundChange } from "../protocol/alert.ts";
import { formatMeasure, formatNumber, formatShare } from "./format.ts";

const KINDS: Record<FoundChange["kind"], string> = { step: "step", drift: "drift", threshold: "limit broken" };

/** Nothing that is measured is surer than this is told. */
const SUREST = 0.999;

/** How far something moved: `+9.8 %`, or by how much where there is no share. */
export function describeMove({
  relativeChange,
  from,
  to,
}: Pick<FoundChange, "relativeChange" | "from" | "to">): string {
  return relativeChange === null ? signed(to - from, formatNumber) : signed(relativeChange, formatShare);
}

/** From where to where: `p50 from 10 ms to 11 ms`. */
export function describeLevels({ statistic, from, to }: FoundChange, unit: string): string {
  return `${statistic} from ${formatMeasure(from, unit)} to ${formatMeasure(to, unit)}`;
}

/** What kind of change it is, and how long it took where it took time. */
export function describeKind({ kind, limits }: Pick<FoundChange, "kind" | "limits">): string {
  return limits === null ? KINDS[kind] : `${KINDS[kind]} (${limits.threshold})`;
}

/** How sure it is, with the range that the share lies in; says so where nothing tells. */
export function describeSureness({
  confidence,
  interval,
  noiseFloor,
  pointsBefore,
  pointsAfter,
}: ChangeEvidence): string {
  const sure =
    confidence === null
      ? "not rated"
      : `${confidence > SUREST ? "more than " : ""}${formatShare(Math.min(confidence, SUREST))} sure`;
  const range =
    interval === null ? "" : `, between ${signed(interval.low, formatShare)} and ${signed(interval.high, formatShare)}`;
  const floor = noiseFloor === null ? "" : `; ${formatShare(noiseFloor)} counts as noise`;
  return `${sure}${range}, from ${pointsBefore} points before and ${pointsAfter} after${floor}`;
}

function signed(value: number, format: (value: number) => string): string {
  return `${value < 0 ? "−" : "+"}${format(Math.abs(value))}`;
}
