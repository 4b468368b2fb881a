// AssemblyScript. Four lanes a vector, each of them an episode of its own. Arrays of all lanes hold their numbers a
// VECTOR apart, so that a number of four lanes is one load.

const FLOAT: usize = 4;
const VECTOR: usize = 16;
const LANES: i32 = 4;

/** sum + x·y: rounded once where the processor has such an instruction, twice elsewhere. */
// @ts-ignore: decorator
@inline
function multiplyAdd(sum: v128, x: v128, y: v128): v128 {
  return f32x4.relaxed_madd(x, y, sum);
}

/** Lanes of `yes` where the mask is set, else of `no`. */
// @ts-ignore: decorator
@inline
function choose(yes: v128, no: v128, mask: v128): v128 {
  return v128.bitselect(yes, no, mask);
}

// @ts-ignore: decorator
@inline
function clamp(value: v128, low: f32, high: f32): v128 {
  return f32x4.min(f32x4.max(value, f32x4.splat(low)), f32x4.splat(high));
}

/** Mask of the lanes that are neither infinite nor NaN. */
// @ts-ignore: decorator
@inline
function areFinite(value: v128): v128 {
  return f32x4.lt(f32x4.abs(value), f32x4.splat(Infinity));
}

// @ts-ignore: decorator
@inline
function isFiniteNumber(value: f32): bool {
  return abs<f32>(value) < <f32>Infinity;
}

/** A number in every lane. */
// @ts-ignore: decorator
@inline
function all(value: f32): v128 {
  return f32x4.splat(value);
}

// @ts-ignore: decorator
@inline
function plus(a: v128, b: v128): v128 {
  return f32x4.add(a, b);
}

// @ts-ignore: decorator
@inline
function minus(a: v128, b: v128): v128 {
  return f32x4.sub(a, b);
}

// @ts-ignore: decorator
@inline
function times(a: v128, b: v128): v128 {
  return f32x4.mul(a, b);
}

// @ts-ignore: decorator
@inline
function over(a: v128, b: v128): v128 {
  return f32x4.div(a, b);
}
