// What a neuron makes of its sum, by the number of its activation.

fn activate(value: f32, activation: u32) -> f32 {
  switch (activation) {
    case 1u: { return max(value, 0f); }
    case 2u: { return hyperbolic_tangent(value); }
    case 3u: { return 0.5f + 0.5f * hyperbolic_tangent(0.5f * value); }
    default: { return value; }
  }
}
