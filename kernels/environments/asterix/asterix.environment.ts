import { specifyGame } from "../minatar/minatar-specs.ts";
import { asterixReference } from "./asterix.reference.ts";

/** One point for each piece of gold that is met; the end is to meet an enemy. */
export const asterix = specifyGame({
  name: "asterix",
  description: "Gather gold that crosses the board and keep out of the way of enemies",
  folder: new URL(".", import.meta.url),
  file: "asterix.wgsl",
  channels: 4,
  state: [
    ...["playerX", "playerY"].map((name) => ({ name, type: "i32", count: 1 }) as const),
    ...["present", "gold", "rightward", "columns"].map((name) => ({ name, type: "u32", count: 1 }) as const),
    ...["spawnInterval", "spawnTimer", "moveInterval", "moveTimer", "rampTimer"].map(
      (name) => ({ name, type: "i32", count: 1 }) as const,
    ),
    { name: "ramps", type: "u32", count: 1 },
  ],
  reference: asterixReference,
  best: 30,
});
