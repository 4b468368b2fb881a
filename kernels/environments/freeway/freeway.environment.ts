import { specifyGame } from "../minatar/minatar-specs.ts";
import { freewayReference } from "./freeway.reference.ts";

/** One point for each crossing, in 2,501 steps. */
export const freeway = specifyGame({
  name: "freeway",
  description: "Cross a road of eight lanes as often as possible",
  folder: new URL(".", import.meta.url),
  file: "freeway.wgsl",
  channels: 7,
  state: [
    ...["chicken", "moveTimer", "framesLeft"].map((name) => ({ name, type: "i32", count: 1 }) as const),
    ...["columns", "timers", "intervals", "rightward"].map((name) => ({ name, type: "u32", count: 1 }) as const),
  ],
  reference: freewayReference,
  best: 60,
});
