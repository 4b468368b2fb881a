// CartPole-v1 as Gymnasium has it (Barto, Sutton and Anderson 1983).

struct State {
  x: f32,
  x_speed: f32,
  angle: f32,
  angle_speed: f32,
}

const GRAVITY = 9.8f;
const POLE_MASS = 0.1f;
const TOTAL_MASS = 1.1f;
const HALF_LENGTH = 0.5f;
const FORCE = 10f;
const SECONDS = 0.02f;
const MAX_X = 2.4f;
const MAX_ANGLE = 0.20943951f; // 12 degrees

fn reset(random: ptr<function, Random>) -> State {
  let start = (draw_uniform(random) - 0.5f) * 0.1f;
  return State(start.x, start.y, start.z, start.w);
}

fn observe(state: State) -> Observation {
  return Observation(state.x, state.x_speed, state.angle, state.angle_speed);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let before = *state;
  let force = select(-FORCE, FORCE, action == 1u);
  let turn = sine_cosine(before.angle);
  let push = (force + POLE_MASS * HALF_LENGTH * before.angle_speed * before.angle_speed * turn.x) / TOTAL_MASS;
  let angle_pull = (GRAVITY * turn.x - turn.y * push) /
    (HALF_LENGTH * (4f / 3f - POLE_MASS * turn.y * turn.y / TOTAL_MASS));
  let x_pull = push - POLE_MASS * HALF_LENGTH * angle_pull * turn.y / TOTAL_MASS;
  // Explicit Euler: positions move by the speeds before the step.
  let after = State(
    before.x + SECONDS * before.x_speed,
    before.x_speed + SECONDS * x_pull,
    before.angle + SECONDS * before.angle_speed,
    before.angle_speed + SECONDS * angle_pull,
  );
  *state = after;
  return Transition(1f, abs(after.x) > MAX_X || abs(after.angle) > MAX_ANGLE);
}
