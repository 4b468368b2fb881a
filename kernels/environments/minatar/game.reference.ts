import { toUniform } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

/** The six actions of every game of MinAtar; the first is to do nothing. */
export const ACTIONS = { left: 1, up: 2, right: 3, down: 4, fire: 5 } as const;

/** Index of a bit in the observation of a game of 10×10×channels: row by row, the channels of a cell together. */
export function indexCell(row: number, column: number, channel: number, channels: number): number {
  return (row * 10 + column) * channels + channel;
}

/** A number kept within bounds. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** One of so many things of a random word. */
export function toChoice(word: number, count: number): number {
  return Math.floor(toUniform(word) * count);
}

/** A game whose last action is taken again with this chance (Machado et al. 2018); its state ends with that action. */
export function makeSticky(game: EnvironmentReference, chance: number): EnvironmentReference {
  return {
    reset(state, draws) {
      game.reset(state.subarray(0, -1), draws);
      state[state.length - 1] = 0;
    },
    observe: (state, observation) => game.observe(state.subarray(0, -1), observation),
    step(state, action, draws) {
      const last = state.length - 1;
      const again = chance > 0 && toUniform(draws.words()[0]) < chance;
      if (!again) state[last] = action[0]!;
      return game.step(state.subarray(0, -1), state.subarray(last), draws);
    },
  };
}
