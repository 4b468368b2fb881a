// The car of Moore 1990 in its valley, as Gymnasium has it.

struct State {
  position: f32,
  speed: f32,
}

const GRAVITY = 0.0025f;
const MAX_SPEED = 0.07f;
const WALL = -1.2f;
const END = 0.6f;

fn reset(random: ptr<function, Random>) -> State {
  return State(0.2f * draw_uniform(random).x - 0.6f, 0f);
}

fn observe(state: State) -> Observation {
  return Observation(state.position, state.speed);
}

/// Moves the car one step under a push; the wall stops it.
fn drive(state: ptr<function, State>, push: f32) {
  let before = *state;
  let pull = push - GRAVITY * cosine(3f * before.position);
  let speed = clamp(before.speed + pull, -MAX_SPEED, MAX_SPEED);
  let position = clamp(before.position + speed, WALL, END);
  *state = State(position, select(speed, 0f, position == WALL && speed < 0f));
}
