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
