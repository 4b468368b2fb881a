/** The nearest number to `value` from −bound to bound. */
export function clip(value: number, bound: number): number {
  return Math.min(Math.max(value, -bound), bound);
}
