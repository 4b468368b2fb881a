import { serveByOrt } from "./ort.ts";

/** It looks for its adapter by itself and does not tell which it took. */
export const contender = serveByOrt("webgpu");
