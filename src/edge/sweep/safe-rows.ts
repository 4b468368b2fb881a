import { LIMITS } from "../../protocol/limits.ts";
import type { MemoryFit } from "../../protocol/model.ts";

/**
 * Share of a machine's memory that one model with its largest batch may take. The rest is for the system, the
 * runner and its other models, and for what the memory model does not know: it is fitted to resident memory.
 */
export const SAFE_MEMORY_SHARE = 0.5;

/** What a batch may take, and where that comes from. */
export interface MemoryBudget {
  readonly budgetBytes: number;
  readonly of: "asked" | "host" | "device";
  /** Of the machine's memory; null where the caller said how much. */
  readonly share: number | null;
}

/** The budget that was asked for, else the safe share of the smaller of host's and device's memory; null unknown. */
export function chooseMemoryBudget(
  askedBytes: number | undefined,
  hostBytes: number | null,
  deviceBytes: number | null,
): MemoryBudget | null {
  if (askedBytes !== undefined) return { budgetBytes: askedBytes, of: "asked", share: null };
  const known = [
    { of: "host" as const, bytes: hostBytes },
    { of: "device" as const, bytes: deviceBytes },
  ].flatMap(({ of, bytes }) => (bytes === null ? [] : [{ of, bytes }]));
  const [smallest] = known.toSorted((a, b) => a.bytes - b.bytes);
  if (smallest === undefined) return null;
  return { budgetBytes: smallest.bytes * SAFE_MEMORY_SHARE, of: smallest.of, share: SAFE_MEMORY_SHARE };
}

/** The most rows with `baseBytes + rows · bytesPerRow ≤ budgetBytes`, as many as a batch can have; 0: not even one. */
export function countSafeRows({ baseBytes, bytesPerRow }: MemoryFit, budgetBytes: number): number {
  if (baseBytes + bytesPerRow > budgetBytes) return 0;
  const rows = bytesPerRow === 0 ? Number.POSITIVE_INFINITY : Math.floor((budgetBytes - baseBytes) / bytesPerRow);
  return Math.min(LIMITS.batchRows, rows);
}
