import { setFlagsFromString } from "node:v8";

/** Percent of what lives by which the heap may grow until it is collected. */
const GROWTH_PERCENT = 1_000;

/**
 * Makes V8 collect this process less often. Tensors lie outside of its heap, but count towards when that is
 * collected as a whole: beside some twenty megabytes that live, each dozen of requests with large tensors
 * brought a collection of tens of milliseconds. Now garbage may be ten times what lives, some 200 MB.
 */
export function collectRarely(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
