// Functions of one element or two, of tensors that are walked through by strides: arithmetic with broadcasting, and
// everything that only moves elements.

const COPY = 0u;
const ADD = 1u;
const SUBTRACT = 2u;
const MULTIPLY = 3u;
const DIVIDE = 4u;
const POWER = 5u;
const MINIMUM = 6u;
const MAXIMUM = 7u;
const SQUARE = 8u;
// With the operands changed over.
const SUBTRACT_FROM = 9u;
const DIVIDE_INTO = 10u;
// From here on they are in seldom.wgsl.
const FIRST_SELDOM_MAP = 16u;

// Offsets into the operands and the output.
struct Walk { a: i32, b: i32, out: i32 }

fn walk(op: Op, item: i32) -> Walk {
  if (op.rank == 1u) { return Walk(item * op.a5, item * op.b5, item * op.o5); }
  var rest = item / op.d5;
  var at = item - rest * op.d5;
  var found = Walk(at * op.a5, at * op.b5, at * op.o5);
  at = rest;
  rest = at / op.d4;
  at -= rest * op.d4;
  found = Walk(found.a + at * op.a4, found.b + at * op.b4, found.out + at * op.o4);
  if (op.rank == 2u) { return found; }
  at = rest;
  rest = at / op.d3;
  at -= rest * op.d3;
  found = Walk(found.a + at * op.a3, found.b + at * op.b3, found.out + at * op.o3);
  if (op.rank == 3u) { return found; }
  at = rest;
  rest = at / op.d2;
  at -= rest * op.d2;
  found = Walk(found.a + at * op.a2, found.b + at * op.b2, found.out + at * op.o2);
  at = rest;
  rest = at / op.d1;
  at -= rest * op.d1;
  return Walk(
    found.a + at * op.a1 + rest * op.a0,
    found.b + at * op.b1 + rest * op.b0,
    found.out + at * op.o1 + rest * op.o0,
  );
}

override has_power: bool = true;

fn second(op: Op, base: i32, at: i32) -> f32 {
  if (op.otherIsConstant != 0) { return constant(op.other + at); }
  return arena[base + op.other + at];
}

// Other than `pow`, it takes a negative base where the exponent is whole. Exceptions as in C.
// Source: ISO C, F.10.4.4.
fn power(base: f32, exponent: f32) -> f32 {
  let size = select(pow(abs(base), exponent), infinity(), base == 0.0 && exponent < 0.0);
  let is_whole = exponent == round(exponent);
  let is_odd = is_whole && abs(exponent) % 2.0 == 1.0;
  let found = select(size, -size, base < 0.0 && is_odd);
  let is_none = is_nan(base) || is_nan(exponent) || (base < 0.0 && !is_whole && base > -infinity());
  let is_one = exponent == 0.0 || base == 1.0 || (base == -1.0 && abs(exponent) >= infinity());
  return select(select(found, not_a_number(), is_none), 1.0, is_one);
}

// `found`, or the operand that is NaN.
fn spread(found: f32, a: f32, b: f32) -> f32 {
  return select(select(found, b, is_nan(b)), a, is_nan(a));
}

fn apply(which: u32, a: f32, b: f32) -> f32 {
  switch which {
    case ADD: { return a + b; }
    case SUBTRACT: { return a - b; }
    case MULTIPLY: { return a * b; }
    case DIVIDE: { return a / b; }
    case MINIMUM: { return spread(min(a, b), a, b); }
    case MAXIMUM: { return spread(max(a, b), a, b); }
    case SUBTRACT_FROM: { return b - a; }
    case DIVIDE_INTO: { return b / a; }
    default: {
      if (has_power) { return power(a, b); }
      return a;
    }
  }
}

fn map(op: Op, place: Place, item: i32) {
  let at = walk(op, item);
  let a = arena[place.base + op.input + at.a];
  if (has_seldom_map && op.which >= FIRST_SELDOM_MAP) {
    map_seldom(op, place, at, a);
    return;
  }
  var found = a;
  switch op.which {
    case COPY: {}
    case SQUARE: { found = a * a; }
    default: { found = apply(op.which, a, second(op, place.base, at.b)); }
  }
  put(op, place.base, at.out, found);
}
