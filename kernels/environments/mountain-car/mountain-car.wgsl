// MountainCar-v0 as Gymnasium has it: the car of valley.wgsl, too weak to drive straight up to the flag.

const PUSH = 0.001f;
const GOAL = 0.5f;

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  drive(state, PUSH * (f32(action) - 1f));
  return Transition(-1f, (*state).position >= GOAL && (*state).speed >= 0f);
}
