import type { EnvironmentReference } from "../environment-spec.ts";

const CASES = 4;

/** Exclusive or (Stanley and Miikkulainen 2002): one case a step; the return is 4 less the sum of the squared errors. */
export const xorReference: EnvironmentReference = {
  reset: (state) => void state.fill(0),
  observe([index], observation) {
    observation.set(toBits(index!));
  },
  step(state, [output]) {
    const [a, b] = toBits(state[0]!);
    const error = (a ^ b) - Math.min(Math.max(output!, 0), 1);
    state[0] = (state[0]! + 1) % CASES;
    return { reward: 1 - error ** 2, terminated: state[0] === 0 };
  },
};

function toBits(index: number): readonly [number, number] {
  return [index >> 1, index & 1];
}
