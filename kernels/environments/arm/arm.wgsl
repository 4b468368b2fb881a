// The planar arm of Cully et al. (Nature 2015) with 100 joints, as QDax has it: an episode is one step, whose action is
// the solution. Evenly spread angles are best; the measures are where the hand is.

struct State {
  hand: array<f32, 2>,
}

const TURN = 6.28318530718f; // radians

fn reset(random: ptr<function, Random>) -> State {
  return State();
}

fn observe(state: State) -> Observation {
  return Observation(1f);
}

/// A joint's angle in turns from 0 (backwards) by ½ (straight on) to 1.
fn clip_joint(value: f32) -> f32 {
  return clamp(value, 0f, 1f);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  const COUNT = f32(OUTPUTS);
  var mean = 0f;
  for (var joint = 0u; joint < OUTPUTS; joint++) {
    mean += clip_joint(action[joint]) / COUNT;
  }
  var squares = 0f;
  var hand = vec2f();
  var turns = 0f;
  for (var joint = 0u; joint < OUTPUTS; joint++) {
    let angle = clip_joint(action[joint]);
    squares += (angle - mean) * (angle - mean);
    // Turns lose nothing when they are wrapped, radians would.
    turns += angle - 0.5f;
    turns -= round(turns);
    hand += sine_cosine(TURN * turns).yx;
  }
  hand = 0.5f + 0.5f * hand / COUNT;
  (*state).hand = array<f32, 2>(hand.x, hand.y);
  return Transition(-sqrt(squares / COUNT), true);
}

fn measure(state: State) -> array<f32, MEASURES> {
  return state.hand;
}
