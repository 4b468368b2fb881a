// Behaviour of an episode by its last state.

fn keep_measures(slot: u32, state: State) {
  let measures = measure(state);
  for (var index = 0u; index < MEASURES; index++) {
    behaviours[slot * MEASURES + index] = measures[index];
  }
}
