/**
 * The machine's monotonic clock in milliseconds, the same in every thread. `performance.now` counts from the start of
 * its thread, and the wall times of two starts do not tell how far they are apart: that clock may have been set between.
 */
export function readMonotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
