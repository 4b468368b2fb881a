/** First seed of each purpose; the ranges never overlap, so that no figure comes from the seeds that chose it. */
const FIRST_SEED = {
  training: 0,
  selection: 0x8000_0000,
  report: 0xa000_0000,
  baseline: 0xc000_0000,
  test: 0xe000_0000,
} as const;

export type SeedPurpose = keyof typeof FIRST_SEED;

/** `count` u32 seeds of episodes for one purpose, from its `offset`-th on (offset + count at most 2²⁹). */
export function episodeSeeds(purpose: SeedPurpose, count: number, offset = 0): number[] {
  if (offset + count > 2 ** 29) throw new RangeError(`${purpose} has 2^29 seeds, wanted up to ${offset + count}`);
  return Array.from({ length: count }, (_, index) => FIRST_SEED[purpose] + offset + index);
}
