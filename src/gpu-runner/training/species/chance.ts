import { createDraws, toUniform } from "../../../stats/draws.ts";
import { normalQuantile } from "../../../stats/normal.ts";

/** Random choices, one after the other. */
export interface Chance {
  /** In [0, 1). */
  uniform(): number;
  normal(): number;
  happens(probability: number): boolean;
  /** One of so many things, from 0. */
  below(count: number): number;
  pick<Thing>(things: readonly Thing[]): Thing;
}

/** Choices of one child of one generation, whatever is drawn elsewhere. */
export function createChance(key: {
  readonly seed: number;
  readonly stream: number;
  readonly generation: number;
  readonly child: number;
}): Chance {
  const draws = createDraws({ ...key, member: key.child, episode: key.generation, step: 0 });
  let words: readonly number[] = [];
  let at = 0;
  function uniform(): number {
    if (at === words.length) {
      words = draws.words();
      at = 0;
    }
    return toUniform(words[at++]!);
  }
  const below = (count: number) => Math.floor(uniform() * count);
  return {
    uniform,
    normal: () => normalQuantile(uniform() + 2 ** -25),
    happens: (probability) => uniform() < probability,
    below,
    pick: (things) => things[below(things.length)]!,
  };
}
