import { CONV } from "../../rollout/policy-layout.ts";
import { type EnvironmentReference, FRAME_WORDS } from "../environment-spec.ts";
import { makeSticky } from "./game.reference.ts";

const SIDE = 10;

/**
 * A sticky game that shows its last four frames of 84×84 greys, the oldest first. Its state ends with their cells: the
 * highest channel of each plus one, three bits each, the ten of a row in a word.
 */
export function makeRendered(game: EnvironmentReference, channels: number, chance: number): EnvironmentReference {
  const sticky = makeSticky(game, chance);
  const bits = new Float64Array(SIDE * SIDE * channels);
  const draw = (state: Float64Array): number[] => {
    sticky.observe(state.subarray(0, -FRAME_WORDS), bits);
    return Array.from({ length: SIDE }, (_, row) => {
      let word = 0;
      for (let column = 0; column < SIDE; column++) {
        const cell = bits.subarray((row * SIDE + column) * channels, (row * SIDE + column + 1) * channels);
        word += (cell.lastIndexOf(1) + 1) * 8 ** column;
      }
      return word;
    });
  };
  return {
    reset(state, draws) {
      sticky.reset(state.subarray(0, -FRAME_WORDS), draws);
      const frame = draw(state);
      state.set([...frame, ...frame, ...frame, ...frame], state.length - FRAME_WORDS);
    },
    observe(state, observation) {
      const cells = state.subarray(-FRAME_WORDS);
      let at = 0;
      for (let frame = 0; frame < CONV.frames; frame++) {
        for (let row = 0; row < CONV.side; row++) {
          const word = cells[SIDE * frame + cellOf(row)]!;
          for (let column = 0; column < CONV.side; column++)
            observation[at++] = ((word >>> (3 * cellOf(column))) & 7) / channels;
        }
      }
    },
    step(state, action, draws) {
      const transition = sticky.step(state.subarray(0, -FRAME_WORDS), action, draws);
      const frames = state.slice(SIDE - FRAME_WORDS);
      state.set([...frames, ...draw(state)], state.length - FRAME_WORDS);
      return transition;
    },
  };
}

/** The cell whose middle is nearest to the middle of a pixel. */
function cellOf(pixel: number): number {
  return Math.floor(((pixel + 0.5) * SIDE) / CONV.side);
}
