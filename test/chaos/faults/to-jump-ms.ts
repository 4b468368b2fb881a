/** Clocks jump by so much at most, either way: more than a lease. */
const MAX_JUMP_MS = 20_000;

/** Offset of a clock in a fault of this severity, in [0, 1): back or ahead. */
export function toJumpMs(severity: number): number {
  return Math.round((2 * severity - 1) * MAX_JUMP_MS);
}
