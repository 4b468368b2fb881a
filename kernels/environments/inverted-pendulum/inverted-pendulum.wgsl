// InvertedPendulum-v5 of Gymnasium in closed form: masses (kg), moment of inertia (kg·m²), damping and gear as MuJoCo
// compiles them from inverted_pendulum.xml. The hinge's own limits of a quarter turn lie far behind the end.

struct State {
  x: f32,
  angle: f32,
  speed: f32,
  angle_speed: f32,
}

const GRAVITY = 9.81f;
const TOTAL_MASS = 15.490567153329286f;
const POLE_MASS = 5.018591641363306f;
const POLE_INERTIA = 0.1887497668730885f;
const CENTRE = 0.30000041667f; // of the pole, from the hinge
const LEAN = 0.00166666512f; // of it at angle 0: the pole's end is a millimetre to the right
const DAMPING = 1f; // of the rail and of the hinge
const GEAR = 100f;
const MAX_ACTION = 3f;
const SECONDS = 0.02f;
const FRAMES = 2u;
const MAX_ANGLE = 0.2f;
const STOP = RailStop(0f, 0.08367433805859587f, 0.04f);
const REACHES = array(0f, 0.5f * SECONDS, 0.5f * SECONDS, SECONDS);
const WEIGHTS = array(SECONDS / 6f, SECONDS / 3f, SECONDS / 3f, SECONDS / 6f);

fn reset(random: ptr<function, Random>) -> State {
  let start = (draw_uniform(random) - 0.5f) * 0.02f;
  return State(start.x, start.y, start.z, start.w);
}

fn observe(state: State) -> Observation {
  return Observation(state.x, state.angle, state.speed, state.angle_speed);
}

/// How fast (x, angle, speed, angle speed) change. The pole's equation is put into the cart's, whose `weight` is the mass
/// that a force on it has to move.
fn slopes(state: vec4f, force: f32) -> vec4f {
  const MOMENT = POLE_MASS * CENTRE;
  const INERTIA = POLE_INERTIA + MOMENT * CENTRE;
  let turn = sine_cosine(state.y + LEAN);
  let coupling = MOMENT * turn.y;
  let torque = MOMENT * GRAVITY * turn.x - DAMPING * state.w;
  let weight = TOTAL_MASS - coupling * coupling / INERTIA;
  let push = force - DAMPING * state.z + MOMENT * turn.x * state.w * state.w - coupling * torque / INERTIA;
  let pull = (push + stop_force(STOP, state.x, state.z, push / weight, 1f / weight)) / weight;
  return vec4f(state.zw, pull, (torque - coupling * pull) / INERTIA);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let force = GEAR * clamp(action[0], -MAX_ACTION, MAX_ACTION);
  var at = vec4f((*state).x, (*state).angle, (*state).speed, (*state).angle_speed);
  // Runge and Kutta's method, in a loop: it is compiled once and not four times.
  for (var frame = 0u; frame < FRAMES; frame++) {
    let before = at;
    var slope = vec4f();
    for (var stage = 0u; stage < 4u; stage++) {
      slope = slopes(before + REACHES[stage] * slope, force);
      at += WEIGHTS[stage] * slope;
    }
  }
  *state = State(at.x, at.y, at.z, at.w);
  let finite = is_finite(at.x) && is_finite(at.y) && is_finite(at.z) && is_finite(at.w);
  let down = !finite || abs(at.y) > MAX_ANGLE;
  return Transition(select(1f, 0f, down), down);
}
