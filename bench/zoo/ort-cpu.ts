import { serveByOrt } from "./ort.ts";

/** On one thread, which is how placements begin. */
export const contender = serveByOrt("cpu");
