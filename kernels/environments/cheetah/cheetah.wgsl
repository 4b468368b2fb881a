// A cheetah with the task of Gymnasium's HalfCheetah-v5, on planar-body.wgsl: not MuJoCo's numbers.

const STEP_SECONDS = SECONDS * f32(SUBSTEPS);
const SPREAD = 0.1f; // of starts

fn reset(random: ptr<function, Random>) -> State {
  var places: array<f32, FREEDOMS>;
  var speeds: array<f32, FREEDOMS>;
  for (var block = 0u; block < FREEDOMS; block += 4u) {
    let drawn = SPREAD * (2f * draw_uniform(random) - 1f);
    for (var index = block; index < min(block + 4u, FREEDOMS); index++) {
      places[index] = drawn[index - block];
    }
  }
  for (var block = 0u; block < FREEDOMS; block += 4u) {
    let drawn = SPREAD * draw_normal(random);
    for (var index = block; index < min(block + 4u, FREEDOMS); index++) {
      speeds[index] = drawn[index - block];
    }
  }
  places[0] = 0f;
  places[1] += HEIGHT;
  return pose(places, speeds);
}

fn observe(state: State) -> Observation {
  return read_bodies(state);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let speed = move_bodies(state, action) / STEP_SECONDS;
  var effort = 0f;
  for (var joint = 0u; joint < JOINTS; joint++) {
    effort += action[joint] * action[joint];
  }
  return Transition(speed - 0.1f * effort, false);
}
