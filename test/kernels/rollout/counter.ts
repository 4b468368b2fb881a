import type { EnvironmentDefinition } from "../../../src/protocol/policies/environment-definition.ts";

/** Counts its steps: a point for each, until the action is the count. An action of 300 has an infinite reward. */
export const counter: EnvironmentDefinition = {
  name: "counter",
  description: "Counts",
  observationSize: 1,
  action: { kind: "continuous", size: 1, low: 0, high: 1_000 },
  stepLimit: 10,
  measures: 1,
  scores: { worst: 0, best: 10, solvedAt: null },
  stateWords: 1,
  wgsl: `struct State {
  at: u32,
}

fn reset(random: ptr<function, Random>) -> State {
  return State(0u);
}

fn observe(state: State) -> Observation {
  return Observation(1f + f32(state.at));
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  (*state).at += 1u;
  let reward = select(1f, bitcast<f32>(0x7f800000u + (*state).at * 0u), action[0] == 300f);
  return Transition(reward, f32((*state).at) == action[0]);
}

fn measure(state: State) -> array<f32, MEASURES> {
  return array<f32, MEASURES>(f32(state.at) / 10f);
}
`,
};
