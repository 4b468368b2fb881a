// One of so many things: the index of the largest output, the first of equals.

alias Action = u32;

fn choose_action(outputs: Outputs) -> Action {
  var chosen = 0u;
  var largest = outputs[0];
  for (var index = 1u; index < OUTPUTS; index++) {
    if (outputs[index] > largest) {
      largest = outputs[index];
      chosen = index;
    }
  }
  return chosen;
}
