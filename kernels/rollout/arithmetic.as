// The twin of arithmetic.wgsl: the same polynomials, for four lanes and for one.

let sine: v128 = i32x4(0, 0, 0, 0);
let cosine: v128 = i32x4(0, 0, 0, 0);

/** Leaves sine and cosine of angles of at most some thousands: Cody and Waite 1980, and Cephes' sinf and cosf. */
// @ts-ignore: decorator
@inline
function findSineCosine(angle: v128): void {
  const quarters = f32x4.nearest(f32x4.mul(angle, f32x4.splat(0.636619772)));
  let rest = multiplyAdd(angle, quarters, f32x4.splat(-1.5703125));
  rest = multiplyAdd(rest, quarters, f32x4.splat(-4.83751296997e-4));
  turnQuarters(multiplyAdd(rest, quarters, f32x4.splat(-7.54978995489e-8)), quarters);
}

/** The same of so many turns, at most a few. */
// @ts-ignore: decorator
@inline
function findSineCosineOfTurn(turns: v128): void {
  const angle = f32x4.mul(f32x4.splat(4), turns);
  const quarters = f32x4.nearest(angle);
  turnQuarters(f32x4.mul(f32x4.sub(angle, quarters), f32x4.splat(1.57079632679)), quarters);
}

/** Of an angle of at most an eighth turn, plus so many quarters. */
// @ts-ignore: decorator
@inline
function turnQuarters(rest: v128, quarters: v128): void {
  const square = f32x4.mul(rest, rest);
  let odd = multiplyAdd(f32x4.splat(8.3321608736e-3), square, f32x4.splat(-1.9515295891e-4));
  odd = multiplyAdd(f32x4.splat(-1.6666654611e-1), square, odd);
  odd = multiplyAdd(rest, f32x4.mul(rest, square), odd);
  let even = multiplyAdd(f32x4.splat(-1.388731625493765e-3), square, f32x4.splat(2.443315711809948e-5));
  even = multiplyAdd(f32x4.splat(4.166664568298827e-2), square, even);
  even = multiplyAdd(multiplyAdd(f32x4.splat(1), square, f32x4.splat(-0.5)), f32x4.mul(square, square), even);
  const turns = i32x4.trunc_sat_f32x4_s(quarters);
  const swapped = i32x4.eq(v128.and(turns, i32x4.splat(1)), i32x4.splat(1));
  const sineSign = i32x4.shl(v128.and(turns, i32x4.splat(2)), 30);
  const cosineSign = i32x4.shl(v128.and(i32x4.add(turns, i32x4.splat(1)), i32x4.splat(2)), 30);
  sine = v128.xor(choose(even, odd, swapped), sineSign);
  cosine = v128.xor(choose(odd, even, swapped), cosineSign);
}

/** The eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. */
function hyperbolicTangent(value: v128): v128 {
  const x = clamp(value, -7.35, 7.35);
  const z = f32x4.mul(x, x);
  let above = f32x4.add(z, f32x4.splat(2145));
  above = multiplyAdd(f32x4.splat(675675), z, above);
  above = multiplyAdd(f32x4.splat(64324260), z, above);
  above = multiplyAdd(f32x4.splat(1964187225), z, above);
  above = multiplyAdd(f32x4.splat(13749310575), z, above);
  let under = multiplyAdd(f32x4.splat(45045), z, f32x4.splat(66));
  under = multiplyAdd(f32x4.splat(7567560), z, under);
  under = multiplyAdd(f32x4.splat(413513100), z, under);
  under = multiplyAdd(f32x4.splat(6547290750), z, under);
  under = multiplyAdd(f32x4.splat(13749310575), z, under);
  return f32x4.div(f32x4.mul(x, above), under);
}

/** ln of positive numbers that are not subnormal: by the exponent, and the polynomial of Cephes' logf for the rest. */
function naturalLogarithm(value: v128): v128 {
  const half = v128.or(v128.and(value, i32x4.splat(0x7fffff)), i32x4.splat(0x3f000000));
  const isSmall = f32x4.lt(half, f32x4.splat(0.707106781));
  const bias = i32x4.sub(isSmall, i32x4.splat(126));
  const exponent = f32x4.convert_i32x4_s(i32x4.add(i32x4.shr_u(value, 23), bias));
  const x = f32x4.sub(f32x4.add(half, v128.and(half, isSmall)), f32x4.splat(1));
  const square = f32x4.mul(x, x);
  let tail = multiplyAdd(f32x4.splat(-1.1514610310e-1), x, f32x4.splat(7.0376836292e-2));
  tail = multiplyAdd(f32x4.splat(1.1676998740e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(-1.2420140846e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(1.4249322787e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(-1.6668057665e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(2.0000714765e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(-2.4999993993e-1), x, tail);
  tail = multiplyAdd(f32x4.splat(3.3333331174e-1), x, tail);
  tail = f32x4.mul(tail, f32x4.mul(x, square));
  tail = multiplyAdd(tail, f32x4.splat(-2.12194440e-4), exponent);
  tail = multiplyAdd(tail, f32x4.splat(-0.5), square);
  return multiplyAdd(f32x4.add(x, tail), f32x4.splat(0.693359375), exponent);
}

// @ts-ignore: decorator
@inline
function findSine(angle: v128): v128 {
  findSineCosine(angle);
  return sine;
}

// @ts-ignore: decorator
@inline
function findCosine(angle: v128): v128 {
  findSineCosine(angle);
  return cosine;
}

/** The angles in [−π, π] that are whole turns away from those of at most some thousands. */
// @ts-ignore: decorator
@inline
function wrapAngle(angle: v128): v128 {
  const turns = f32x4.nearest(times(angle, all(0.159154943)));
  return multiplyAdd(multiplyAdd(angle, turns, all(-6.28125)), turns, all(-1.93530717959e-3));
}

/** Angles of points seen from the origin, in [−π, π]; 0 of the origin itself. Cephes' atanf. */
function findAngle(x: v128, y: v128): v128 {
  const width = f32x4.abs(x);
  const height = f32x4.abs(y);
  const larger = f32x4.max(width, height);
  const none = f32x4.eq(larger, all(0));
  const part = over(f32x4.min(width, height), choose(all(1), larger, none));
  const isWide = f32x4.gt(part, all(0.414213562));
  const ratio = choose(over(minus(part, all(1)), plus(part, all(1))), part, isWide);
  const z = times(ratio, ratio);
  let tail = multiplyAdd(all(-1.38776856032e-1), z, all(8.05374449538e-2));
  tail = multiplyAdd(all(1.99777106478e-1), z, tail);
  tail = multiplyAdd(all(-3.33329491539e-1), z, tail);
  let angle = plus(v128.and(all(0.785398163), isWide), multiplyAdd(ratio, times(ratio, z), tail));
  angle = choose(minus(all(1.57079632679), angle), angle, f32x4.gt(height, width));
  angle = choose(minus(all(3.14159265359), angle), angle, f32x4.lt(x, all(0)));
  angle = choose(f32x4.neg(angle), angle, f32x4.lt(y, all(0)));
  return choose(all(0), angle, none);
}
