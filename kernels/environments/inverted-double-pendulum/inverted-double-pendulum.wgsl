// InvertedDoublePendulum-v5 of Gymnasium in closed form: masses (kg), moments of inertia (kg·m²), damping and gear as
// MuJoCo compiles them from inverted_double_pendulum.xml. Both poles are alike.

struct State {
  place: array<f32, 3>, // x, angle of the first pole, angle between them
  speed: array<f32, 3>,
  stop: f32, // force of the rail's end, N
}

const GRAVITY = 9.81f;
const SLOPE = 1e-5f; // gravity along the rail
const TOTAL_MASS = 18.869452675011495f;
const POLE_MASS = 4.1987385815227585f;
const POLE_INERTIA = 0.15497066975016235f;
const LENGTH = 0.6f;
const CENTRE = 0.3f;
const DAMPING = 0.05f; // of the rail and of both hinges
const GEAR = 500f;
const SECONDS = 0.01f;
const FRAMES = 5u;
const MIN_HEIGHT = 1f;
const STOP = RailStop(0.01f, 0.08467261918769675f, 0.02f);
const REACHES = array(0f, 0.5f * SECONDS, 0.5f * SECONDS, SECONDS);
const WEIGHTS = array(SECONDS / 6f, SECONDS / 3f, SECONDS / 3f, SECONDS / 6f);

fn reset(random: ptr<function, Random>) -> State {
  let place = (draw_uniform(random) - 0.5f) * 0.2f;
  let speed = 0.1f * draw_normal(random);
  return State(array(place.x, place.y, place.z), array(speed.x, speed.y, speed.z), 0f);
}

fn observe(state: State) -> Observation {
  let first = sine_cosine(state.place[1]);
  let second = sine_cosine(state.place[2]);
  let speed = clamp(vec3f(state.speed[0], state.speed[1], state.speed[2]), vec3f(-10f), vec3f(10f));
  return Observation(
    state.place[0], first.x, second.x, first.y, second.y, speed.x, speed.y, speed.z, clamp(state.stop, -10f, 10f));
}

struct Motion {
  pull: vec3f, // accelerations
  stop: f32,
}

/// Lagrange's equations in the angles against the vertical. Those of the poles are put into the cart's, whose `weight` is
/// the mass that a force on it has to move.
fn motion(place: vec3f, speed: vec3f, force: f32) -> Motion {
  const MOMENT1 = POLE_MASS * (CENTRE + LENGTH);
  const MOMENT2 = POLE_MASS * CENTRE;
  const B11 = POLE_INERTIA + POLE_MASS * (CENTRE * CENTRE + LENGTH * LENGTH);
  const B22 = POLE_INERTIA + MOMENT2 * CENTRE;
  let turn1 = sine_cosine(place.y);
  let turn2 = sine_cosine(place.y + place.z);
  // Between the poles: sin(a − b) and cos(a − b).
  let between = vec2f(turn2.x * turn1.y - turn2.y * turn1.x, turn1.y * turn2.y + turn1.x * turn2.x);
  let spins = vec2f(speed.y, speed.y + speed.z);
  let moments = vec2f(MOMENT1, MOMENT2);
  let coupling = moments * vec2f(turn1.y, turn2.y);
  let b12 = MOMENT2 * LENGTH * between.y;
  let inverse = mat2x2f(B22, -b12, -b12, B11) * (1f / (B11 * B22 - b12 * b12));
  let whirl = MOMENT2 * LENGTH * between.x * vec2f(spins.y * spins.y, -spins.x * spins.x);
  let friction = DAMPING * vec2f(speed.z - speed.y, -speed.z);
  let torques = moments * (GRAVITY * vec2f(turn1.x, turn2.x) + SLOPE * vec2f(turn1.y, turn2.y)) + whirl + friction;
  let free = inverse * torques;
  let drag = inverse * coupling;
  let weight = TOTAL_MASS - dot(coupling, drag);
  let swing = dot(moments * vec2f(turn1.x, turn2.x), spins * spins);
  let push = force - DAMPING * speed.x + TOTAL_MASS * SLOPE + swing - dot(coupling, free);
  let stop = stop_force(STOP, place.x, speed.x, push / weight, 1f / weight);
  let pull = (push + stop) / weight;
  let turns = free - drag * pull;
  return Motion(vec3f(pull, turns.x, turns.y - turns.x), stop);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let force = GEAR * clamp(action[0], -1f, 1f);
  var place = vec3f((*state).place[0], (*state).place[1], (*state).place[2]);
  var speed = vec3f((*state).speed[0], (*state).speed[1], (*state).speed[2]);
  var seen: vec3f;
  var moved: Motion;
  // Runge and Kutta's method, in a loop: it is compiled once and not four times.
  for (var frame = 0u; frame < FRAMES; frame++) {
    let place_before = place;
    let speed_before = speed;
    var slope = vec3f();
    moved.pull = vec3f();
    for (var stage = 0u; stage < 4u; stage++) {
      seen = place_before + REACHES[stage] * slope;
      slope = speed_before + REACHES[stage] * moved.pull;
      moved = motion(seen, slope, force);
      place += WEIGHTS[stage] * slope;
      speed += WEIGHTS[stage] * moved.pull;
    }
  }
  // What MuJoCo tells of the tip and the stop is of the last stage that it has looked at, not of the state behind it.
  *state = State(array(place.x, place.y, place.z), array(speed.x, speed.y, speed.z), moved.stop);
  let tip = vec2f(seen.x, 0f) + LENGTH * (sine_cosine(seen.y) + sine_cosine(seen.y + seen.z));
  let down = tip.y <= MIN_HEIGHT;
  let short = tip.y - 2f;
  let lost = 0.01f * tip.x * tip.x + short * short + 1e-3f * speed.y * speed.y + 5e-3f * speed.z * speed.z;
  return Transition(select(10f, 0f, down) - lost, down);
}
