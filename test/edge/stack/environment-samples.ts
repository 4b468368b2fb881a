/** An environment as callers submit it. */
export const counter = {
  name: "counter",
  description: "Counts to ten",
  observationSize: 1,
  action: { kind: "discrete", count: 2 },
  stepLimit: 10,
  measures: 0,
  scores: { worst: 0, best: 10, solvedAt: null },
  wgsl: `struct State { at: f32 }
fn reset(random: ptr<function, Random>) -> State { return State(0f); }
fn observe(state: State) -> Observation { return Observation(state.at); }
fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  (*state).at += 1f;
  return Transition(1f, false);
}`,
  stateWords: 1,
} as const;
