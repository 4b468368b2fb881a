// The sphere of Fontaine et al. (GECCO 2020, section 4.1) with 20 numbers, as pyribs has it: an episode is one step,
// whose action is the solution.

struct State {
  measures: array<f32, 2>,
}

const BOUND = 5.12f;
const SHIFT = 2.048f; // 0.4 · BOUND: the optimum is not where searches begin
const WORST = 51.380224f; // (BOUND + SHIFT)² of each number

fn reset(random: ptr<function, Random>) -> State {
  return State();
}

fn observe(state: State) -> Observation {
  return Observation(1f);
}

/// What a number adds to a measure: itself within the bounds, and ever less beyond them.
fn fold(value: f32) -> f32 {
  return select(value, BOUND / value, abs(value) > BOUND);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  const HALF = OUTPUTS / 2u;
  var sums = array<f32, 2>();
  var gain = 0f;
  for (var index = 0u; index < OUTPUTS; index++) {
    let value = action[index];
    sums[index / HALF] += fold(value);
    // WORST − (value − SHIFT)², factored: nothing cancels.
    gain += (BOUND + value) * (BOUND + 2f * SHIFT - value);
  }
  for (var index = 0u; index < 2u; index++) {
    (*state).measures[index] = 0.5f + sums[index] / (2f * BOUND * f32(HALF));
  }
  return Transition(100f * gain / (WORST * f32(OUTPUTS)), true);
}

fn measure(state: State) -> array<f32, MEASURES> {
  return state.measures;
}
