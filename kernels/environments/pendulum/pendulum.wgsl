// Pendulum-v1 as Gymnasium has it: a rod of 1 m and 1 kg that hangs from its end, 0 upright.

struct State {
  angle: f32,
  speed: f32,
}

const PI = 3.14159265f;
const GRAVITY = 10f;
const MAX_TORQUE = 2f;
const MAX_SPEED = 8f; // radians/s
const SECONDS = 0.05f;

fn reset(random: ptr<function, Random>) -> State {
  let start = 2f * draw_uniform(random) - 1f;
  return State(PI * start.x, start.y);
}

fn observe(state: State) -> Observation {
  let turn = sine_cosine(state.angle);
  return Observation(turn.y, turn.x, state.speed);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let before = *state;
  let torque = clamp(action[0], -MAX_TORQUE, MAX_TORQUE);
  let away = wrap_angle(before.angle);
  let cost = away * away + 0.1f * before.speed * before.speed + 0.001f * torque * torque;
  // A rod's moment of inertia is a third of mass · length².
  let pull = 1.5f * GRAVITY * sine(before.angle) + 3f * torque;
  let speed = clamp(before.speed + SECONDS * pull, -MAX_SPEED, MAX_SPEED);
  *state = State(before.angle + SECONDS * speed, speed);
  return Transition(-cost, false);
}
