import { FIRST_VARIANT } from "./model.ts";

/**
 * The edge as a place where models are computed (backend `edge-wasm`). It stands where a placement names its
 * runner; no runner has this id, and none can get it.
 */
export const EDGE_RUNNER_ID = `rnr_${"edge".padStart(26, "0")}`;
export const EDGE_DEVICE_KEY = "edge";

/** How the edge computes a dense network from the version's own file: in float32, or with weights of one byte. */
export const EDGE_VARIANTS = [FIRST_VARIANT, "edge-int8"] as const;
export type EdgeVariant = (typeof EDGE_VARIANTS)[number];

/** Below this many numbers in weights and biases those of one byte save no time. */
const QUANTISED_PARAMETERS = 16_384;

/** How the edge computes a dense network of so many parameters. */
export function edgeVariantsOf(parameters: number): EdgeVariant[] {
  return EDGE_VARIANTS.filter((variant) => variant === FIRST_VARIANT || parameters >= QUANTISED_PARAMETERS);
}
