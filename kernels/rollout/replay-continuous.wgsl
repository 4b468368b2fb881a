fn read_action(index: u32) -> Action {
  var action: Action;
  for (var part = 0u; part < OUTPUTS; part++) {
    action[part] = actions[index * OUTPUTS + part];
  }
  return action;
}
