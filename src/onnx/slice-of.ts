/** Where a slice of an axis begins, and how many elements it takes. */
export function sliceOf(size: number, start: number, end: number, step: number): { start: number; length: number } {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (place: number) => Math.min(high, Math.max(low, place < 0 ? place + size : place));
  const [from, to] = [clamp(start), clamp(end)];
  return { start: from, length: Math.max(0, Math.ceil((to - from) / step)) };
}
