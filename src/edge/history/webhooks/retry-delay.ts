import { LIMITS } from "../../../protocol/limits.ts";

/**
 * Milliseconds from a failed attempt to the next one: `firstMs`, doubled with every further failure, less up to a
 * half at random, so that receivers that came back are not met by everything at once. Null behind the last attempt:
 * from a minute on, twelve attempts take about a day.
 */
export function retryDelayMs(attempts: number, firstMs: number, random: () => number = Math.random): number | null {
  if (attempts >= LIMITS.webhookAttempts) return null;
  return Math.round(firstMs * 2 ** (attempts - 1) * (1 - random() / 2));
}
