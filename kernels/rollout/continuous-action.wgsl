// The outputs are the action, spread over its bounds where the last layer is bounded: y = BASE + SPREAD · output.

alias Action = array<f32, OUTPUTS>;

fn choose_action(outputs: Outputs) -> Action {
  var action = outputs;
  for (var index = 0u; index < OUTPUTS; index++) {
    action[index] = ACTION_BASE + ACTION_SPREAD * outputs[index];
  }
  return action;
}
