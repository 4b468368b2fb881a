// CartPole swing-up as EvoJAX has it (Gal, McAllister and Rasmussen 2016, with the limits of Ha's ESTool): a pole that
// hangs from a cart, which any force up to a limit pushes; angle 0 is upright.

struct State {
  x: f32,
  x_speed: f32,
  angle: f32,
  angle_speed: f32,
}

const PI = 3.14159265f;
const GRAVITY = 9.82f;
const POLE_MASS = 0.5f;
const TOTAL_MASS = 1f;
const LENGTH = 0.6f;
const FRICTION = 0.1f; // N·s/m between cart and ground
const MAX_FORCE = 10f;
const SECONDS = 0.01f;
const MAX_X = 2.4f;

fn reset(random: ptr<function, Random>) -> State {
  var start: vec4f;
  if (HARD) {
    start = (2f * draw_uniform(random) - 1f) * vec4f(MAX_X, 10f, PI / 2f, 10f);
  } else {
    start = 0.2f * draw_normal(random);
  }
  return State(start.x, start.y, PI + start.z, start.w);
}

fn observe(state: State) -> Observation {
  let turn = sine_cosine(state.angle);
  return Observation(state.x, state.x_speed, turn.y, turn.x, state.angle_speed);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let before = *state;
  let turn = sine_cosine(before.angle);
  let pull = MAX_FORCE * clamp(action[0], -1f, 1f) - FRICTION * before.x_speed;
  let swing = POLE_MASS * LENGTH * before.angle_speed * before.angle_speed * turn.x;
  let x_pull = (4f * pull - 2f * swing + 3f * POLE_MASS * GRAVITY * turn.x * turn.y) /
    (4f * TOTAL_MASS - 3f * POLE_MASS * turn.y * turn.y);
  let angle_pull = (6f * pull * turn.y - 3f * swing * turn.y + 6f * TOTAL_MASS * GRAVITY * turn.x) /
    (LENGTH * (4f * TOTAL_MASS - 3f * POLE_MASS * turn.y * turn.y));
  // Explicit Euler: positions move by the speeds before the step.
  let after = State(
    before.x + SECONDS * before.x_speed,
    before.x_speed + SECONDS * x_pull,
    before.angle + SECONDS * before.angle_speed,
    before.angle_speed + SECONDS * angle_pull,
  );
  *state = after;
  let reward = 0.5f * (1f + cosine(after.angle)) * cosine(after.x * (PI / (2f * MAX_X)));
  return Transition(reward, abs(after.x) > MAX_X);
}
