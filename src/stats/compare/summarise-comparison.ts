export interface Estimate {
  readonly value: number;
  /** Null where there are too few values for one. */
  readonly interval: { readonly low: number; readonly high: number } | null;
}

/** The fewest values of a side that are judged. */
export const FEWEST_VALUES = 5;

interface Findings {
  readonly countA: number;
  readonly countB: number;
  /** From A's median to B's: a share of A's where it is relative, else in the unit of the samples. */
  readonly change: Estimate;
  readonly relative: boolean;
  /** Whether the interval excludes no change and the test agrees. */
  readonly certain: boolean;
  readonly verdict: "better" | "worse" | "same" | "unclear";
  readonly p: number;
  readonly minimumEffect: number;
  readonly confidence: number;
}

/** Findings of a comparison in one plain English sentence that holds for any unit. */
export function summariseComparison(findings: Findings): string {
  const { countA, countB, change, relative, p, confidence } = findings;
  const moved = describeChange(change.value, relative);
  if (change.interval === null) {
    return `Too few values to tell: ${describeMissing(countA, countB)}; so far ${moved}.`;
  }
  const interval = `${percent(confidence)} interval ${describeInterval(change.interval, relative)}`;
  const chance = p < 0.0001 ? "p < 0.0001" : `p = ${round(p, 2)}`;
  return `${judge(findings, moved)} (${interval}); ${chance} over ${countA} and ${countB} values.`;
}

function judge({ verdict, certain, minimumEffect, change }: Findings, moved: string): string {
  if (verdict === "same") return `B is the same as A to within ${percent(minimumEffect)}: ${moved}`;
  if (verdict !== "unclear") return `${moved}, which is ${verdict}`;
  if (certain) return `${moved}, less than the ${percent(minimumEffect)} that counts`;
  return change.value === 0 ? `${moved}, but B may still differ` : `${moved}, which may be noise`;
}

function describeMissing(countA: number, countB: number): string {
  const missing = Object.entries({ A: FEWEST_VALUES - countA, B: FEWEST_VALUES - countB })
    .filter(([, count]) => count > 0)
    .map(([side, count]) => `${side} lacks ${count}`);
  return `${missing.join(" and ")} of the ${FEWEST_VALUES} that a side takes`;
}

function describeChange(change: number, relative: boolean): string {
  if (change === 0) return "B's median equals A's";
  const size = amount(change, relative);
  return relative ? `B is ${size} ${wayOf(change)} than A` : `B's median is ${size} ${wayOf(change)} than A's`;
}

function describeInterval({ low, high }: { low: number; high: number }, relative: boolean): string {
  if (low < 0 && high > 0) return `${amount(low, relative)} lower to ${amount(high, relative)} higher`;
  const [near, far] = low < 0 ? [high, low] : [low, high];
  const from = relative ? round(100 * Math.abs(near), 3) : amount(near, relative);
  return `${from} to ${amount(far, relative)} ${wayOf(far)}`;
}

function wayOf(change: number): string {
  return change < 0 ? "lower" : "higher";
}

function amount(change: number, relative: boolean): string {
  return relative ? percent(Math.abs(change)) : round(Math.abs(change), 3);
}

function percent(share: number): string {
  return `${round(100 * share, 3)} %`;
}

function round(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}
