/**
 * Divides a number of independent items over devices in proportion to their speed, by the method of largest remainders.
 * A device of unknown speed counts as an average one. The shares add up to `items`; a slow device may get none.
 */
export function shareWork(items: number, speeds: readonly (number | null)[]): number[] {
  const known = speeds.filter((speed) => speed !== null);
  const average = known.length === 0 ? 1 : known.reduce((sum, speed) => sum + speed, 0) / known.length;
  const weights = speeds.map((speed) => speed ?? average);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (items * weight) / total);
  const shares = exact.map(Math.floor);
  const byRemainder = exact.map((share, index) => ({ index, rest: share - Math.floor(share) }));
  byRemainder.sort((a, b) => b.rest - a.rest || a.index - b.index);
  const missing = items - shares.reduce((sum, share) => sum + share, 0);
  for (const { index } of byRemainder.slice(0, missing)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}

/** Weight of a new speed measurement against earlier ones. */
const NEWEST_WEIGHT = 0.5;

/** Speed of a device after another measurement: an exponentially weighted mean, so that it follows a change. */
export function updateSpeed(before: number | null, measured: number): number {
  return before === null ? measured : before + NEWEST_WEIGHT * (measured - before);
}

/** Device that could take a piece of work. */
export interface Candidate {
  /** Pieces of work that it has already. */
  readonly waiting: number;
  /** In any common unit of the candidates; null where it was never measured. */
  readonly speed: number | null;
}

/** Device that is likely to finish first: `waiting + 1` pieces at its speed. The first of equals. */
export function chooseDevice<Device extends Candidate>(candidates: readonly Device[]): Device | undefined {
  const known = candidates.map(({ speed }) => speed).filter((speed) => speed !== null);
  // A device that was never measured counts as the fastest, so that it is measured.
  const best = known.length === 0 ? 1 : Math.max(...known);
  const timeOf = ({ waiting, speed }: Candidate) => (waiting + 1) / (speed ?? best);
  return candidates.toSorted((a, b) => timeOf(a) - timeOf(b))[0];
}
