// Functions whose accuracy WGSL leaves open, exact to a few units in the last place of an f32.

/// Whether a number is neither infinite nor NaN, by its bits: compilers may take the rest for granted.
fn is_finite(value: f32) -> bool {
  return (bitcast<u32>(value) & 0x7f800000u) != 0x7f800000u;
}

/// Sine and cosine of an angle of at most some thousands: reduced by quarter turns whose length has three parts
/// (Cody and Waite 1980).
fn sine_cosine(angle: f32) -> vec2f {
  let quarters = round(angle * 0.636619772f);
  let rest = ((angle - quarters * 1.5703125f) - quarters * 4.83751296997e-4f) - quarters * 7.54978995489e-8f;
  return turn_quarters(rest, quarters);
}

/// Sine and cosine of so many whole turns, in [0, 1]: the reduction is exact.
fn sine_cosine_of_turn(turns: f32) -> vec2f {
  let quarters = round(4f * turns);
  return turn_quarters((4f * turns - quarters) * 1.57079632679f, quarters);
}

/// Sine and cosine of an angle of at most an eighth turn, by the polynomials of Cephes' sinf and cosf, plus so many quarters.
fn turn_quarters(rest: f32, quarters: f32) -> vec2f {
  let square = rest * rest;
  let sine = rest + rest * square * (-1.6666654611e-1f + square * (8.3321608736e-3f - square * 1.9515295891e-4f));
  let cosine = 1f - 0.5f * square + square * square * (4.166664568298827e-2f + square * (-1.388731625493765e-3f + square * 2.443315711809948e-5f));
  let turned = u32(i32(quarters));
  let pair = select(vec2f(sine, cosine), vec2f(cosine, sine), (turned & 1u) == 1u);
  return select(pair, -pair, (vec2u(turned, turned + 1u) & vec2u(2u)) == vec2u(2u));
}

fn sine(angle: f32) -> f32 {
  return sine_cosine(angle).x;
}

fn cosine(angle: f32) -> f32 {
  return sine_cosine(angle).y;
}

/// The angle of a point seen from the origin, in [-π, π]; 0 of the origin itself. Cephes' atanf.
fn angle_of(point: vec2f) -> f32 {
  let size = abs(point);
  let larger = max(size.x, size.y);
  if (larger == 0f) {
    return 0f;
  }
  var ratio = min(size.x, size.y) / larger;
  var angle = 0f;
  if (ratio > 0.414213562f) {
    angle = 0.785398163f;
    ratio = (ratio - 1f) / (ratio + 1f);
  }
  let z = ratio * ratio;
  angle += ratio + ratio * z * (-3.33329491539e-1f + z * (1.99777106478e-1f + z * (-1.38776856032e-1f + z * 8.05374449538e-2f)));
  angle = select(angle, 1.57079632679f - angle, size.y > size.x);
  angle = select(angle, 3.14159265359f - angle, point.x < 0f);
  return select(angle, -angle, point.y < 0f);
}

/// The eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. The built-in one
/// may overflow for large arguments.
fn hyperbolic_tangent(value: f32) -> f32 {
  let x = clamp(value, -7.35f, 7.35f);
  let z = x * x;
  let over = 13749310575f + z * (1964187225f + z * (64324260f + z * (675675f + z * (2145f + z))));
  let under = 13749310575f + z * (6547290750f + z * (413513100f + z * (7567560f + z * (45045f + z * 66f))));
  return x * over / under;
}

/// The angle in [−π, π] that is whole turns away from one of at most some thousands.
fn wrap_angle(angle: f32) -> f32 {
  let turns = round(angle * 0.159154943f);
  return (angle - turns * 6.28125f) - turns * 1.93530717959e-3f;
}

/// ln of a positive number that is not subnormal: by its exponent, and the polynomial of Cephes' logf for what is left
/// between √½ and √2. The built-in one may be 2⁻²¹ off near 1.
fn natural_logarithm(value: f32) -> f32 {
  let bits = bitcast<u32>(value);
  var exponent = f32(i32(bits >> 23u) - 126);
  var x = bitcast<f32>((bits & 0x7fffffu) | 0x3f000000u);
  if (x < 0.707106781f) {
    exponent -= 1f;
    x += x;
  }
  x -= 1f;
  let square = x * x;
  var tail = 7.0376836292e-2f;
  tail = tail * x - 1.1514610310e-1f;
  tail = tail * x + 1.1676998740e-1f;
  tail = tail * x - 1.2420140846e-1f;
  tail = tail * x + 1.4249322787e-1f;
  tail = tail * x - 1.6668057665e-1f;
  tail = tail * x + 2.0000714765e-1f;
  tail = tail * x - 2.4999993993e-1f;
  tail = tail * x + 3.3333331174e-1f;
  tail = tail * x * square - 2.12194440e-4f * exponent - 0.5f * square;
  return (x + tail) + 0.693359375f * exponent;
}
