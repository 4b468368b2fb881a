import { specifyGame } from "../minatar/minatar-specs.ts";
import { breakoutReference } from "./breakout.reference.ts";

/** A ball is kept in the air with a paddle; one point for each brick that it breaks. */
export const breakout = specifyGame({
  name: "breakout",
  description: "Break a wall of bricks with a ball that must not fall",
  folder: new URL(".", import.meta.url),
  file: "breakout.wgsl",
  assembly: "breakout.as",
  channels: 4,
  state: [
    { name: "bricks", type: "u32", count: 1 },
    ...["paddle", "x", "y", "lastX", "lastY", "stepX", "stepY"].map(
      (name) => ({ name, type: "i32", count: 1 }) as const,
    ),
    { name: "inBricks", type: "u32", count: 1 },
  ],
  reference: breakoutReference,
  best: 30,
});
