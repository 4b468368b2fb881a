// Acrobot-v1 as Gymnasium has it, with the dynamics of Sutton and Barto's book (2nd edition, section 11.3 of the 1st):
// two links of mass, length and moment of inertia 1, centred at ½; angles from hanging down and from the first link.

struct State {
  angles: vec2f,
  speeds: vec2f,
}

const GRAVITY = 9.8f;
const SECONDS = 0.2f;
const REACHES = array(0f, 0.5f * SECONDS, 0.5f * SECONDS, SECONDS);
const WEIGHTS = array(SECONDS / 6f, SECONDS / 3f, SECONDS / 3f, SECONDS / 6f);
const MAX_SPEEDS = vec2f(12.5663706f, 28.2743339f); // 4π and 9π

fn reset(random: ptr<function, Random>) -> State {
  let start = (draw_uniform(random) - 0.5f) * 0.2f;
  return State(start.xy, start.zw);
}

fn observe(state: State) -> Observation {
  let first = sine_cosine(state.angles.x);
  let second = sine_cosine(state.angles.y);
  return Observation(first.y, first.x, second.y, second.x, state.speeds.x, state.speeds.y);
}

/// How fast a state (angles, speeds) changes under a torque at the elbow.
fn slopes(state: vec4f, torque: f32) -> vec4f {
  let speeds = state.zw;
  let elbow = sine_cosine(state.y);
  let d1 = 3.5f + elbow.y;
  let d2 = 1.25f + 0.5f * elbow.y;
  let phi2 = 0.5f * GRAVITY * sine(state.x + state.y);
  let phi1 = -0.5f * speeds.y * speeds.y * elbow.x - speeds.y * speeds.x * elbow.x + 1.5f * GRAVITY * sine(state.x) + phi2;
  let pull2 = (torque + d2 / d1 * phi1 - 0.5f * speeds.x * speeds.x * elbow.x - phi2) / (1.25f - d2 * d2 / d1);
  let pull1 = -(d2 * pull2 + phi1) / d1;
  return vec4f(speeds, pull1, pull2);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let torque = f32(action) - 1f;
  // One step of Runge and Kutta's method of fourth order, in a loop: it is compiled once and not four times.
  let before = vec4f((*state).angles, (*state).speeds);
  var slope = vec4f();
  var after = before;
  for (var stage = 0u; stage < 4u; stage++) {
    slope = slopes(before + REACHES[stage] * slope, torque);
    after += WEIGHTS[stage] * slope;
  }
  let angles = vec2f(wrap_angle(after.x), wrap_angle(after.y));
  *state = State(angles, clamp(after.zw, -MAX_SPEEDS, MAX_SPEEDS));
  // The tip is a link's length above the shoulder.
  let up = -cosine(angles.x) - cosine(angles.x + angles.y) > 1f;
  return Transition(select(-1f, 0f, up), up);
}
