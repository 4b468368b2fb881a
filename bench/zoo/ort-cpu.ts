import { serveByOrt } from "./ort.ts";

/** On one thread, the default of placements. */
export const contender = serveByOrt("cpu");
