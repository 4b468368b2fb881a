import { serveByOrt } from "./ort.ts";

/** It selects its adapter itself and does not report which. */
export const contender = serveByOrt("webgpu");
