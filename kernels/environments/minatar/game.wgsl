// What the games of MinAtar share: six actions, and boards of ten rows of ten cells, each cell with CHANNELS bits.

const LEFT = 1u;
const UP = 2u;
const RIGHT = 3u;
const DOWN = 4u;
const FIRE = 5u;

/// A place after a step of -1, 0 or 1 that ends at the bounds.
fn move_within(place: i32, back: bool, forth: bool, low: i32, high: i32) -> i32 {
  return clamp(place + select(0, 1, forth) - select(0, 1, back), low, high);
}

/// With sticky actions (Machado et al. 2018) the last action is taken again now and then.
fn stick(action: Action, last_action: u32, random: ptr<function, Random>) -> u32 {
  if (STICKY > 0.0 && draw_uniform(random).x < STICKY) {
    return last_action;
  }
  return action;
}
