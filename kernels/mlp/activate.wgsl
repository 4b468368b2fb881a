// The activation of a dense layer by its number, for a `Value` that is f32 or a vector of them.

override activation: u32;

fn activate(x: Value) -> Value {
  switch activation {
    case 2u: { return max(x, Value()); }
    case 3u: { return bendTanh(x); }
    case 4u: { return 0.5 * x * (1.0 + bendTanh(0.7978845608 * fma(0.044715 * x * x, x, x))); }
    case 5u: { return 1.0 / (1.0 + exp(-clamp(x, Value(-80.0), Value(80.0)))); }
    default: { return x; }
  }
}

// Beyond 10, tanh is 1 in f32, while one that is built from exp may overflow.
fn bendTanh(x: Value) -> Value {
  return tanh(clamp(x, Value(-10.0), Value(10.0)));
}
