// What follows a sum: another operand, an activation, and the grid of a quantised network.

const RELU = 1u;
const LEAKY_RELU = 2u;
const CLIP = 3u;
const SIGMOID = 4u;
const HARD_SIGMOID = 5u;
const TANH = 6u;
const SQRT = 7u;
const EXP = 8u;
const LOG = 9u;
const NEGATE = 10u;
const ABSOLUTE = 11u;
const HARD_SWISH = 12u;
const ELU = 13u;
const SOFTPLUS = 14u;
const RECIPROCAL = 15u;

// WGSL lets compilers assume that there is no NaN and no infinity, so both are recognised and made by their bits.
// Source: WGSL, section 15.7.2, "Differences from IEEE-754".
var<private> infinity_bits: u32 = 0x7f800000u;
var<private> nan_bits: u32 = 0x7fc00000u;

fn infinity() -> f32 { return bitcast<f32>(infinity_bits); }
fn not_a_number() -> f32 { return bitcast<f32>(nan_bits); }

fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn are_nan(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn are_infinite(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) == vec4<u32>(0x7f800000u);
}

fn sigmoid(x: vec4<f32>) -> vec4<f32> {
  return select(1.0 / (1.0 + exp(-clamp(x, vec4<f32>(-80.0), vec4<f32>(80.0)))), x, are_nan(x));
}

// Beyond this it is 1 in float32, where some devices compute ∞ / ∞.
fn safe_tanh(x: vec4<f32>) -> vec4<f32> {
  return select(tanh(clamp(x, vec4<f32>(-15.0), vec4<f32>(15.0))), x, are_nan(x));
}

// Some devices bound the argument, and with it NaN and the result.
fn safe_exp(x: vec4<f32>) -> vec4<f32> {
  let bounded = select(exp(x), vec4<f32>(infinity()), x > vec4<f32>(88.8));
  return select(select(bounded, vec4<f32>(), x < vec4<f32>(-104.0)), x, are_nan(x));
}

fn safe_log(x: vec4<f32>) -> vec4<f32> {
  let found = select(log(x), vec4<f32>(-infinity()), x == vec4<f32>());
  let bounded = select(found, x, are_infinite(x) | are_nan(x));
  return select(bounded, vec4<f32>(not_a_number()), x < vec4<f32>());
}

// Which activations a network has, a bit for each; those from 32 on are in seldom.wgsl. Devices that compute all branches
// by masks, and compilers, are spared the others.
override activations: u32 = 0xffffffffu;
override seldom_activations: u32 = 0xffffffffu;
override has_summands: bool = true;
override has_grid: bool = true;

fn has(activation: u32) -> bool {
  return ((activations >> activation) & 1u) != 0u;
}

fn softplus(x: vec4<f32>) -> vec4<f32> {
  return max(x, vec4<f32>()) + log(1.0 + safe_exp(-abs(x)));
}

fn activate(op: Op, x: vec4<f32>) -> vec4<f32> {
  let which = op.activation;
  let none = vec4<f32>();
  let a = op.alpha;
  let b = op.beta;
  var y = x;
  if (has(RELU)) { y = select(y, max(x, none), which == RELU); }
  if (has(LEAKY_RELU)) { y = select(y, select(a * x, x, x >= none), which == LEAKY_RELU); }
  if (has(CLIP)) { y = select(y, min(max(x, vec4<f32>(a)), vec4<f32>(b)), which == CLIP); }
  if (has(HARD_SIGMOID)) { y = select(y, saturate(a * x + b), which == HARD_SIGMOID); }
  if (has(HARD_SWISH)) { y = select(y, x * saturate(x / 6.0 + 0.5), which == HARD_SWISH); }
  if (has(NEGATE)) { y = select(y, -x, which == NEGATE); }
  if (has(ABSOLUTE)) { y = select(y, abs(x), which == ABSOLUTE); }
  if (has(RECIPROCAL)) { y = select(y, 1.0 / x, which == RECIPROCAL); }
  if (has(SQRT) && which == SQRT) { y = select(sqrt(x), vec4<f32>(not_a_number()), x < none); }
  if (has(SIGMOID) && which == SIGMOID) { y = sigmoid(x); }
  if (has(TANH) && which == TANH) { y = safe_tanh(x); }
  if (has(EXP) && which == EXP) { y = safe_exp(x); }
  if (has(LOG) && which == LOG) { y = safe_log(x); }
  if (has(ELU) && which == ELU) { y = select(a * (safe_exp(x) - 1.0), x, x >= none); }
  if (has(SOFTPLUS) && which == SOFTPLUS) { y = softplus(x); }
  if (has_seldom && which >= FIRST_SELDOM) { y = activate_seldom(which, x, a, b); }
  return select(y, x, are_nan(x) & vec4<bool>(which < FIRST_TEST));
}

// QuantizeLinear and DequantizeLinear after it: half goes to even, what is beyond the type's range to its end.
fn quantise(op: Op, x: vec4<f32>) -> vec4<f32> {
  if (!has_grid || op.quantised == 0u) { return x; }
  let level = clamp(round(x / op.step) + op.zero, vec4<f32>(op.low), vec4<f32>(op.high));
  return (level - op.zero) * op.step;
}

// The sum at an element of the output, with what follows it.
fn finished(op: Op, base: i32, element: i32, sum: f32) -> f32 {
  var value = sum;
  // Of a map it is an operand, and has been used.
  if (has_summands && op.other >= 0 && op.kind != MAP) { value += arena[base + op.other + element]; }
  return quantise(op, activate(op, vec4<f32>(value))).x;
}

fn put(op: Op, base: i32, element: i32, sum: f32) {
  arena[base + op.output + element] = finished(op, base, element, sum);
}

// Four sums where they belong, counted from `first`; what is not before `end` is nothing.
fn put4(op: Op, base: i32, first: i32, at: vec4<i32>, end: i32, sums: vec4<f32>) {
  var values = sums;
  if (has_summands && op.other >= 0) {
    let other = base + op.other + first + min(at, vec4<i32>(end - 1));
    values += vec4<f32>(arena[other.x], arena[other.y], arena[other.z], arena[other.w]);
  }
  values = quantise(op, activate(op, values));
  let output = base + op.output + first;
  if (at.x < end) { arena[output + at.x] = values.x; }
  if (at.y < end) { arena[output + at.y] = values.y; }
  if (at.z < end) { arena[output + at.z] = values.z; }
  if (at.w < end) { arena[output + at.w] = values.w; }
}
