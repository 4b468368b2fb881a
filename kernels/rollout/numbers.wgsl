// What an environment of numbers shows.

/// One number of it.
fn input_at(observation: Observation, index: u32) -> f32 {
  return observation[index];
}
