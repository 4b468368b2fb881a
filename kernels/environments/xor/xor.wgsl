// Exclusive or, the unit test of neuro-evolution (Stanley and Miikkulainen 2002): its four cases are four steps, and
// the return is 4 less the sum of the squared errors.

struct State {
  case_index: u32,
}

const CASES = 4u;

fn input_bits(case_index: u32) -> vec2u {
  return vec2u(case_index >> 1u, case_index & 1u);
}

fn reset(random: ptr<function, Random>) -> State {
  return State(0u);
}

fn observe(state: State) -> Observation {
  let bits = vec2f(input_bits(state.case_index));
  return Observation(bits.x, bits.y);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  let bits = input_bits((*state).case_index);
  let error = f32(bits.x ^ bits.y) - clamp(action[0], 0f, 1f);
  // The last case wraps round, so that inputs are bits whatever comes after the end.
  (*state).case_index = ((*state).case_index + 1u) % CASES;
  return Transition(1f - error * error, (*state).case_index == 0u);
}
