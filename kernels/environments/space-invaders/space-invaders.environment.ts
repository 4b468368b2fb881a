import { specifyGame } from "../minatar/minatar-specs.ts";
import { spaceInvadersReference } from "./space-invaders.reference.ts";

/** One point for each alien that is shot; the end is to be hit, or that they land. */
export const spaceInvaders = specifyGame({
  name: "space-invaders",
  description: "Shoot a swarm of aliens that comes down and shoots back",
  folder: new URL(".", import.meta.url),
  file: "space-invaders.wgsl",
  channels: 6,
  state: [
    ...["aliens", "bullets", "shots"].map((name) => ({ name, type: "u32", count: 4 }) as const),
    ...["cannon", "alienStep", "marchInterval", "marchTimer", "shotTimer", "cannonTimer"].map(
      (name) => ({ name, type: "i32", count: 1 }) as const,
    ),
  ],
  reference: spaceInvadersReference,
  best: 100,
});
