// A hopper with the task of Gymnasium's Hopper-v5, on planar-body.wgsl: not MuJoCo's numbers.

const STEP_SECONDS = SECONDS * f32(SUBSTEPS);
const SPREAD = 0.005f; // of starts
const MIN_HEIGHT = 0.7f;
const MAX_ANGLE = 0.2f;
const MAX_NUMBER = 100f;
const SEEN_SPEED = 10f;

fn reset(random: ptr<function, Random>) -> State {
  var places: array<f32, FREEDOMS>;
  var speeds: array<f32, FREEDOMS>;
  for (var block = 0u; block < 2u * FREEDOMS; block += 4u) {
    let drawn = SPREAD * (2f * draw_uniform(random) - 1f);
    for (var index = 0u; index < 4u; index++) {
      let freedom = block + index;
      if (freedom < FREEDOMS) {
        places[freedom] = drawn[index];
      } else {
        speeds[freedom - FREEDOMS] = drawn[index];
      }
    }
  }
  places[0] = 0f;
  places[1] += HEIGHT;
  return pose(places, speeds);
}

fn observe(state: State) -> Observation {
  var numbers = read_bodies(state);
  for (var index = FREEDOMS - 1u; index < OBSERVATION_SIZE; index++) {
    numbers[index] = clamp(numbers[index], -SEEN_SPEED, SEEN_SPEED);
  }
  return numbers;
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let speed = move_bodies(state, action) / STEP_SECONDS;
  var effort = 0f;
  for (var joint = 0u; joint < JOINTS; joint++) {
    effort += action[joint] * action[joint];
  }
  var numbers = read_bodies(*state);
  var healthy = numbers[0] > MIN_HEIGHT && abs(numbers[1]) < MAX_ANGLE;
  for (var index = 1u; index < OBSERVATION_SIZE; index++) {
    healthy = healthy && abs(numbers[index]) < MAX_NUMBER;
  }
  return Transition(speed + select(0f, 1f, healthy) - 1e-3f * effort, !healthy);
}
