fn read_action(index: u32) -> Action {
  return u32(actions[index]);
}
