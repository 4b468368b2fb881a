// MountainCarContinuous-v0 as Gymnasium has it: the car of valley.wgsl under a push of any strength, whose square costs.

const PUSH = 0.0015f;
const GOAL = 0.45f;

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  drive(state, PUSH * clamp(action[0], -1f, 1f));
  let up = (*state).position >= GOAL && (*state).speed >= 0f;
  // What is asked for costs, even where it is more than the engine gives.
  return Transition(select(0f, 100f, up) - 0.1f * action[0] * action[0], up);
}
