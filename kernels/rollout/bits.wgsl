// What an environment of zeros and ones shows: bit i of a row of words is number i.

fn set_bit(observation: ptr<function, Observation>, index: u32) {
  (*observation)[index >> 5u] |= 1u << (index & 31u);
}

/// One number of it.
fn input_at(observation: Observation, index: u32) -> f32 {
  return f32((observation[index >> 5u] >> (index & 31u)) & 1u);
}
