import { installShiftedClock, shiftClock } from "./faulty/shifted-clock.ts";

/**
 * Loaded before a runner's program: its clock jumps when its parent says by how much. Durations come from another
 * clock, which a jump does not touch.
 */
installShiftedClock();
process.on("message", ({ clockOffsetMs }: { readonly clockOffsetMs: number }) => shiftClock(clockOffsetMs));
