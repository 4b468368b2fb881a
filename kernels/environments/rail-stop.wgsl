// The ends of a rail of ±1 m as MuJoCo has them: soft constraints, from a margin before the end on. MuJoCo's
// documentation has the formulas under "Solver parameters"; a constraint by itself has the closed form below.

struct RailStop {
  margin: f32,
  slack: f32, // dof_invweight0: what a force of 1 N moves of the resting model, 1/kg
  seconds: f32, // solref's time constant, which MuJoCo takes as no less than two steps of time
}

const RAIL_END = 1f;
const SHALLOW = 0.9f; // solimp: from here
const DEEP = 0.95f; // to there
const WIDTH = 0.001f; // over a millimetre, by two parabolas

fn impedance_at(depth: f32) -> f32 {
  let share = min(depth / WIDTH, 1f);
  let rest = 1f - share;
  return mix(SHALLOW, DEEP, select(1f - 2f * rest * rest, 2f * share * share, share < 0.5f));
}

/// Force on the cart whose acceleration would be so much without the stop, and changes by `mobility` with each newton.
fn stop_force(stop: RailStop, position: f32, speed: f32, acceleration: f32, mobility: f32) -> f32 {
  let side = select(1f, -1f, position < 0f);
  let depth = stop.margin + (side * position - RAIL_END);
  if (depth <= 0f) {
    return 0f;
  }
  let impedance = impedance_at(depth);
  let rate = 1f / (DEEP * stop.seconds);
  let wanted = -impedance * rate * rate * depth - 2f * rate * side * speed;
  let excess = max(side * acceleration - wanted, 0f);
  return -side * excess / (mobility + (1f - impedance) / impedance * stop.slack);
}
