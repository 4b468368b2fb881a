// Functions that few networks have. Each is left out of a network's program that lacks it.

const FIRST_SELDOM = 16u;
const ERF = 16u;
const GELU = 17u;
const TANH_GELU = 18u;
const MISH = 19u;
const SELU = 20u;
const CELU = 21u;
const SOFTSIGN = 22u;
const SWISH = 23u;
const SINE = 26u;
const COSINE = 27u;
const TANGENT = 28u;
const ARC_SINE = 29u;
const ARC_COSINE = 30u;
const ARC_TANGENT = 31u;
const HYPERBOLIC_SINE = 32u;
const HYPERBOLIC_COSINE = 33u;
const AREA_SINE = 34u;
const AREA_COSINE = 35u;
const AREA_TANGENT = 36u;
const FLOOR = 37u;
const CEILING = 38u;
const ROUND = 39u;
const TRUNCATE = 40u;
const SIGN = 41u;
const HALF = 42u;
// The following have an answer for NaN, too.
const FIRST_TEST = 43u;
const NOT = 43u;
const IS_TRUE = 44u;
const IS_NAN = 45u;
const IS_INFINITE = 46u;
const THRESHOLDED_RELU = 47u;
const SHRINK = 48u;

fn has_one(activation: u32) -> bool {
  if (activation < 32u) { return has(activation); }
  return ((seldom_activations >> (activation - 32u)) & 1u) != 0u;
}

// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; the error is below 1.5e-7.
fn error_function(x: vec4<f32>) -> vec4<f32> {
  let t = 1.0 / (1.0 + 0.3275911 * abs(x));
  let terms = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return sign(x) * (1.0 - terms * safe_exp(-x * x));
}

fn as_numbers(answers: vec4<bool>) -> vec4<f32> {
  return select(vec4<f32>(), vec4<f32>(1.0), answers);
}

// From some ten thousand turns on, float32 does not say the angle.
fn within_turn(x: vec4<f32>) -> vec4<f32> {
  let turns = round(x * 0.15915494309189535);
  // 2π in three parts, each exact times some thousand turns.
  return ((x - turns * 6.28125) - turns * 0.0019350051879882812) - turns * 3.0199159819567814e-7;
}

// Devices compute sines and arcs to four digits. The Taylor series up to x¹¹, within a quarter of a turn.
fn sine(angle: vec4<f32>) -> vec4<f32> {
  let x = select(angle, sign(angle) * 3.141592653589793 - angle, abs(angle) > vec4<f32>(1.5707963267948966));
  let s = x * x;
  let terms = 1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0));
  return x * (1.0 - s / 6.0 * (1.0 - s / 20.0 * terms));
}

fn cosine(angle: vec4<f32>) -> vec4<f32> {
  return sine(angle + 1.5707963267948966);
}

// Five terms of the Taylor series where tangents of a quarter of the angle are below 0.2.
fn arc_tangent(x: vec4<f32>) -> vec4<f32> {
  let one = vec4<f32>(1.0);
  let is_far = abs(x) > one;
  let near = select(abs(x), 1.0 / abs(x), is_far);
  let half = near / (1.0 + sqrt(1.0 + near * near));
  let t = half / (1.0 + sqrt(1.0 + half * half));
  let s = t * t;
  let series = t * (1.0 - s * (1.0 / 3.0 - s * (0.2 - s * (1.0 / 7.0 - s * (1.0 / 9.0)))));
  return sign(x) * select(4.0 * series, 1.5707963267948966 - 4.0 * series, is_far);
}

fn arc_sine(x: vec4<f32>) -> vec4<f32> {
  let found = 2.0 * arc_tangent(x / (1.0 + sqrt(max(1.0 - x * x, vec4<f32>()))));
  return select(found, vec4<f32>(not_a_number()), abs(x) > vec4<f32>(1.0));
}

fn area_sine(x: vec4<f32>) -> vec4<f32> {
  return sign(x) * log_of_sum(abs(x), 1.0);
}

// log(x + sqrt(x² + one)), without the square where it would be too large.
fn log_of_sum(x: vec4<f32>, one: f32) -> vec4<f32> {
  let near = min(x, vec4<f32>(1e5));
  let found = safe_log(near + sqrt(max(near * near + one, vec4<f32>())));
  return select(found, safe_log(x) + 0.6931471805599453, x > vec4<f32>(1e5));
}

fn activate_seldom(which: u32, x: vec4<f32>, a: f32, b: f32) -> vec4<f32> {
  let none = vec4<f32>();
  if (has_one(ERF) && which == ERF) { return error_function(x); }
  if (has_one(GELU) && which == GELU) { return 0.5 * x * (1.0 + error_function(x * 0.7071067811865476)); }
  if (has_one(TANH_GELU) && which == TANH_GELU) {
    return 0.5 * x * (1.0 + safe_tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  }
  if (has_one(MISH) && which == MISH) { return x * safe_tanh(softplus(x)); }
  if (has_one(SELU) && which == SELU) { return b * select(a * (safe_exp(x) - 1.0), x, x > none); }
  if (has_one(CELU) && which == CELU) { return max(x, none) + min(a * (safe_exp(x / a) - 1.0), none); }
  if (has_one(SOFTSIGN) && which == SOFTSIGN) { return x / (1.0 + abs(x)); }
  if (has_one(THRESHOLDED_RELU) && which == THRESHOLDED_RELU) { return select(none, x, x > vec4<f32>(a)); }
  if (has_one(SHRINK) && which == SHRINK) { return select(none, x - sign(x) * b, abs(x) > vec4<f32>(a)); }
  if (has_one(SWISH) && which == SWISH) { return x * sigmoid(a * x); }
  if (has_one(SINE) && which == SINE) { return sine(within_turn(x)); }
  if (has_one(COSINE) && which == COSINE) { return cosine(within_turn(x)); }
  if (has_one(TANGENT) && which == TANGENT) {
    let angle = within_turn(x);
    return sine(angle) / cosine(angle);
  }
  if (has_one(ARC_SINE) && which == ARC_SINE) { return arc_sine(x); }
  if (has_one(ARC_COSINE) && which == ARC_COSINE) { return 1.5707963267948966 - arc_sine(x); }
  if (has_one(ARC_TANGENT) && which == ARC_TANGENT) { return arc_tangent(x); }
  if (has_one(HYPERBOLIC_SINE) && which == HYPERBOLIC_SINE) { return 0.5 * (safe_exp(x) - safe_exp(-x)); }
  if (has_one(HYPERBOLIC_COSINE) && which == HYPERBOLIC_COSINE) { return 0.5 * (safe_exp(x) + safe_exp(-x)); }
  if (has_one(AREA_SINE) && which == AREA_SINE) { return area_sine(x); }
  if (has_one(AREA_COSINE) && which == AREA_COSINE) {
    return select(log_of_sum(x, -1.0), vec4<f32>(not_a_number()), x < vec4<f32>(1.0));
  }
  if (has_one(AREA_TANGENT) && which == AREA_TANGENT) { return 0.5 * safe_log((1.0 + x) / (1.0 - x)); }
  if (has_one(FLOOR) && which == FLOOR) { return floor(x); }
  if (has_one(CEILING) && which == CEILING) { return ceil(x); }
  if (has_one(ROUND) && which == ROUND) { return round(x); }
  if (has_one(TRUNCATE) && which == TRUNCATE) { return trunc(x); }
  if (has_one(SIGN) && which == SIGN) { return sign(x); }
  if (has_one(HALF) && which == HALF) {
    let halves = quantizeToF16(clamp(x, vec4<f32>(-65504.0), vec4<f32>(65504.0)));
    return select(halves, sign(x) * infinity(), abs(x) >= vec4<f32>(65520.0));
  }
  if (has_one(NOT) && which == NOT) { return as_numbers(x == none); }
  if (has_one(IS_TRUE) && which == IS_TRUE) { return as_numbers((x != none) | are_nan(x)); }
  if (has_one(IS_NAN) && which == IS_NAN) { return as_numbers(are_nan(x)); }
  if (has_one(IS_INFINITE) && which == IS_INFINITE) {
    // `a` and `b` say whether -infinity and infinity count.
    return as_numbers(are_infinite(x)) * select(vec4<f32>(a), vec4<f32>(b), x > none);
  }
  return x;
}

const REMAINDER = 16u;
const REMAINDER_AS_IN_C = 17u;
const DIVIDE_WHOLE = 18u;
const AND = 19u;
const OR = 20u;
const XOR = 21u;
const EQUAL = 22u;
const GREATER = 23u;
const LESS = 24u;
const AT_LEAST = 25u;
const AT_MOST = 26u;
const PARAMETRIC_RELU = 27u;
const SECOND = 28u;
// Only where the second operand is not zero: the output keeps what it had elsewhere.
const COPY_WHERE = 29u;
// An element of the second operand by the index in the first, of `height` that lie `channels` apart.
const LOOK_UP = 30u;

fn compare(which: u32, a: f32, b: f32) -> bool {
  // Compilers may take that NaN is equal to itself.
  let are_ordered = !is_nan(a) && !is_nan(b);
  switch which {
    case EQUAL: { return a == b && are_ordered; }
    case GREATER: { return a > b && are_ordered; }
    case LESS: { return a < b && are_ordered; }
    case AT_LEAST: { return a >= b && are_ordered; }
    case AT_MOST: { return a <= b && are_ordered; }
    case AND: { return a != 0.0 && b != 0.0; }
    case OR: { return a != 0.0 || b != 0.0; }
    default: { return (a != 0.0) != (b != 0.0); }
  }
}

// The quotient of whole numbers, which a device may compute as less than it is.
fn divide_whole(a: f32, b: f32) -> f32 {
  let found = trunc(a / b);
  let rest = abs(a) - abs(found * b);
  return found + select(0.0, sign(a) * sign(b), rest >= abs(b)) - select(0.0, sign(a) * sign(b), rest < 0.0);
}

fn map_seldom(op: Op, place: Place, at: Walk, a: f32) {
  if (op.which == LOOK_UP) {
    let index = i32(a) + select(0, op.height, a < 0.0);
    let offset = clamp(index, 0, op.height - 1) * op.channels;
    put(op, place.base, at.out, second(op, place.base, at.b + offset));
    return;
  }
  let b = second(op, place.base, at.b);
  if (op.which == COPY_WHERE && b == 0.0) { return; }
  var found = a;
  switch op.which {
    case SECOND: { found = b; }
    case COPY_WHERE: {}
    case PARAMETRIC_RELU: { found = select(a, a * b, a < 0.0); }
    case DIVIDE_WHOLE: { found = divide_whole(a, b); }
    case REMAINDER: {
      let rest = a - b * divide_whole(a, b);
      found = rest + select(0.0, b, rest * b < 0.0);
    }
    case REMAINDER_AS_IN_C: { found = a - b * divide_whole(a, b); }
    default: { found = select(0.0, 1.0, compare(op.which, a, b)); }
  }
  put(op, place.base, at.out, found);
}

const MULTIPLIED = 8u;
const SUM_OF_SIZES = 9u;
const SUM_OF_SQUARES = 10u;
const LOG_OF_EXPONENTIALS = 11u;
const PLACE_OF_LARGEST = 12u;
const PLACE_OF_SMALLEST = 13u;

// `rows`: whether the last of equal elements is the one.
fn reduce_seldom(op: Op, place: Place, item: i32) {
  let input = place.base + op.input + start(op, item);
  let size = op.d3 * op.d4 * op.d5;
  let is_smallest = op.which == PLACE_OF_SMALLEST;
  var best = arena[input];
  var best_at = 0;
  var multiplied = 1.0;
  var sizes = 0.0;
  var squares = 0.0;
  for (var i = 0; i < size; i++) {
    let value = arena[input + place_in_line(op, i)];
    multiplied *= value;
    sizes += abs(value);
    squares += value * value;
    let is_better = select(value > best, value < best, is_smallest) || (op.rows != 0 && value == best);
    best = select(best, value, is_better);
    best_at = select(best_at, i, is_better);
  }
  var found = f32(best_at);
  switch op.which {
    case MULTIPLIED: { found = multiplied; }
    case SUM_OF_SIZES: { found = sizes; }
    case SUM_OF_SQUARES: { found = squares; }
    case LOG_OF_EXPONENTIALS: {
      var sum = 0.0;
      for (var i = 0; i < size; i++) {
        sum += safe_exp(vec4<f32>(arena[input + place_in_line(op, i)] - best)).x;
      }
      found = best + log(sum);
    }
    default: {}
  }
  put(op, place.base, item, found);
}

// Running sums along an axis. `rows`: without the element itself; `filters`: from the end.
fn cumulate(op: Op, place: Place, item: i32) {
  let first = start(op, item);
  var sum = 0.0;
  for (var i = 0; i < op.d5; i++) {
    let at = first + select(i, op.d5 - 1 - i, op.filters != 0) * op.a5;
    let value = arena[place.base + op.input + at];
    let before = sum;
    sum += value;
    put(op, place.base, at, select(sum, before, op.rows != 0));
  }
}

// How an element takes an update.
const REPLACE = 0u;
const ADD_TO = 1u;
const MULTIPLY_BY = 2u;
const LARGER_OF = 3u;
const SMALLER_OF = 4u;

// The updates of a line, one after the other, each to an index of `height` that lie `channels` apart. Lines do not write
// to the same elements. Indices are walked through by a, updates (from `weights` on) by b, and the output by o.
fn scatter(op: Op, place: Place, item: i32) {
  let first = walk(op, item * op.d5);
  for (var i = 0; i < op.d5; i++) {
    let found = i32(arena[place.base + op.input + first.a + i * op.a5]);
    let index = clamp(found + select(0, op.height, found < 0), 0, op.height - 1);
    let update = arena[place.base + op.weights + first.b + i * op.b5];
    let at = place.base + op.output + first.out + index * op.channels;
    let old = arena[at];
    var value = update;
    switch op.which {
      case ADD_TO: { value = old + update; }
      case MULTIPLY_BY: { value = old * update; }
      case LARGER_OF: { value = spread(max(old, update), old, update); }
      case SMALLER_OF: { value = spread(min(old, update), old, update); }
      default: {}
    }
    arena[at] = value;
  }
}

// Places of the `height` largest elements of a line, or smallest (`which`), in order; of equal ones the first comes first.
// NaN counts as larger than all others.
fn select_largest(op: Op, place: Place, item: i32) {
  let first = walk(op, item * op.d5);
  let input = place.base + op.input + first.a;
  let output = place.base + op.output + first.out;
  var last = 0xffffffffu;
  var last_at = -1;
  for (var rank = 0; rank < op.height; rank++) {
    var best = 0u;
    var best_at = -1;
    for (var i = 0; i < op.d5; i++) {
      let value = order_of(arena[input + i * op.a5], op.which != 0u);
      let is_left = value < last || (value == last && i > last_at);
      if (is_left && (best_at < 0 || value > best)) {
        best = value;
        best_at = i;
      }
    }
    arena[output + rank * op.o5] = f32(best_at);
    last = best;
    last_at = best_at;
  }
}

// A whole number that is larger for larger numbers, or for smaller ones.
fn order_of(value: f32, is_turned: bool) -> u32 {
  let bits = bitcast<u32>(select(value, 0.0, value == 0.0));
  let order = select(bits | 0x80000000u, ~bits, (bits >> 31u) != 0u);
  return select(order, ~order, is_turned);
}

// A convolution over three axes, or the transposed one (`which`), an element of the output at a time. d0 to d2 are the
// sizes of the output, the input and the kernel along the first axis, a0 to a2 its stride, dilation and padding. Weights:
// filters × channels × kernel, of a transposed one channels × filters × kernel in each group.
fn convolve_far(op: Op, place: Place, item: i32) {
  let plane = op.outHeight * op.outWidth;
  let volume = plane * op.d0;
  let unit = item / volume;
  let z = item % volume / plane;
  let y = item % plane / op.outWidth;
  let x = item % op.outWidth;
  let group = unit / op.filters;
  let taps = op.d2 * op.kernelHeight * op.kernelWidth;
  let picture = op.d1 * op.height * op.width;
  let is_transposed = op.which == 1u;
  var weights = op.weights + unit * op.channels * taps;
  var weights_apart = taps;
  if (is_transposed) {
    weights = op.weights + (group * op.channels * op.filters + unit % op.filters) * taps;
    weights_apart = op.filters * taps;
  }
  let input = place.base + op.input + group * op.channels * picture;
  var sum = 0.0;
  if (op.bias >= 0) { sum = constant(op.bias + unit); }
  for (var tap = 0; tap < taps; tap++) {
    let kz = tap / (op.kernelHeight * op.kernelWidth);
    let ky = tap / op.kernelWidth % op.kernelHeight;
    let kx = tap % op.kernelWidth;
    let at_z = place_of_tap(z, kz * op.a1, op.a0, op.a2, op.d1, is_transposed);
    let at_y = place_of_tap(y, ky * op.dilationY, op.strideY, op.padY, op.height, is_transposed);
    let at_x = place_of_tap(x, kx * op.dilationX, op.strideX, op.padX, op.width, is_transposed);
    if (at_z < 0 || at_y < 0 || at_x < 0) { continue; }
    let at = input + (at_z * op.height + at_y) * op.width + at_x;
    for (var channel = 0; channel < op.channels; channel++) {
      sum += arena[at + channel * picture] * constant(weights + channel * weights_apart + tap);
    }
  }
  put(op, place.base, item, sum);
}

// Where a tap finds its input along an axis; -1 outside.
fn place_of_tap(place: i32, tap: i32, stride: i32, pad: i32, size: i32, is_transposed: bool) -> i32 {
  if (!is_transposed) {
    let at = place * stride + tap - pad;
    return select(-1, at, at >= 0 && at < size);
  }
  let behind = place + pad - tap;
  let at = behind / stride;
  return select(-1, at, behind >= 0 && behind % stride == 0 && at < size);
}
