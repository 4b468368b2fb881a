// AssemblyScript. Steps of a dense network on one row, four numbers a vector.
// The caller lays out the memory: addresses are in bytes and multiples of 16, and widths are numbers of elements. A row
// is padded with finite numbers to whole vectors (to 16 elements before `denseInt8`).

/** Bytes of a float, of a vector of four, and of eight vectors. */
const FLOAT: usize = 4;
const VECTOR: usize = 16;
const BLOCK: usize = 128;
/** Elements of one product of bytes, and rows of weights that are multiplied together. */
const BYTES: usize = 16;
const ROWS: usize = 8;

/** Activations are quantised to 0 … 127, the range in which the relaxed product is the same on every processor. */
const STEPS: f32 = 127;
/** Beyond this, the quotient of `tanhOf` is no better than 1. */
const TANH_LIMIT: f32 = 7.35;
/** e to this is the smallest normal float. */
const EXP_LIMIT: f32 = -87.3;

/**
 * after = before · weights + bias. `inputs` and `outputs` are multiples of 4; weights lie in panels of 32 outputs, then
 * of 4, and in a panel input by input.
 */
export function denseFloat(
  weights: usize,
  bias: usize,
  before: usize,
  inputs: usize,
  after: usize,
  outputs: usize,
): void {
  const end = before + inputs * FLOAT;
  const width = outputs * FLOAT;
  let panel = weights;
  let at: usize = 0;
  for (; at + BLOCK <= width; at += BLOCK) {
    addBlock(panel, bias + at, before, end, after + at);
    panel += inputs * BLOCK;
  }
  for (; at < width; at += VECTOR) {
    addVector(panel, bias + at, before, end, after + at);
    panel += inputs * VECTOR;
  }
}

/** sum + x·y: rounded once where the processor has such an instruction, twice elsewhere. */
function multiplyAdd(sum: v128, x: v128, y: v128): v128 {
  return f32x4.relaxed_madd(x, y, sum);
}

/** Eight vectors of sums, enough to hide the latency of an addition. */
function addBlock(panel: usize, bias: usize, before: usize, end: usize, after: usize): void {
  let row = panel;
  let sum0 = v128.load(bias);
  let sum1 = v128.load(bias, 16);
  let sum2 = v128.load(bias, 32);
  let sum3 = v128.load(bias, 48);
  let sum4 = v128.load(bias, 64);
  let sum5 = v128.load(bias, 80);
  let sum6 = v128.load(bias, 96);
  let sum7 = v128.load(bias, 112);
  for (let neuron = before; neuron < end; neuron += FLOAT) {
    const x = v128.load32_splat(neuron);
    sum0 = multiplyAdd(sum0, x, v128.load(row));
    sum1 = multiplyAdd(sum1, x, v128.load(row, 16));
    sum2 = multiplyAdd(sum2, x, v128.load(row, 32));
    sum3 = multiplyAdd(sum3, x, v128.load(row, 48));
    sum4 = multiplyAdd(sum4, x, v128.load(row, 64));
    sum5 = multiplyAdd(sum5, x, v128.load(row, 80));
    sum6 = multiplyAdd(sum6, x, v128.load(row, 96));
    sum7 = multiplyAdd(sum7, x, v128.load(row, 112));
    row += BLOCK;
  }
  v128.store(after, sum0);
  v128.store(after, sum1, 16);
  v128.store(after, sum2, 32);
  v128.store(after, sum3, 48);
  v128.store(after, sum4, 64);
  v128.store(after, sum5, 80);
  v128.store(after, sum6, 96);
  v128.store(after, sum7, 112);
}

/** One vector of sums, in four parts for the same reason. */
function addVector(panel: usize, bias: usize, before: usize, end: usize, after: usize): void {
  let row = panel;
  let sum0 = v128.load(bias);
  let sum1 = f32x4.splat(0);
  let sum2 = f32x4.splat(0);
  let sum3 = f32x4.splat(0);
  for (let neuron = before; neuron < end; neuron += VECTOR) {
    sum0 = multiplyAdd(sum0, v128.load32_splat(neuron), v128.load(row));
    sum1 = multiplyAdd(sum1, v128.load32_splat(neuron, 4), v128.load(row, 16));
    sum2 = multiplyAdd(sum2, v128.load32_splat(neuron, 8), v128.load(row, 32));
    sum3 = multiplyAdd(sum3, v128.load32_splat(neuron, 12), v128.load(row, 48));
    row += 4 * VECTOR;
  }
  v128.store(after, f32x4.add(f32x4.add(sum0, sum1), f32x4.add(sum2, sum3)));
}

/**
 * The same with weights of one byte. The row before is quantised to `quantised` (`inputs` bytes) by its own extremes, x
 * ≈ low + step·q.
 * Weights lie in blocks of 8 outputs, in a block by 16 inputs, then output by output. `factors` holds, each for all
 * outputs: the scale of an output's weights, that scale times the sum of its bytes, and the bias.
 * `inputs` is a multiple of 16 whose first `width` elements count, `outputs` one of 8.
 */
export function denseInt8(
  weights: usize,
  factors: usize,
  before: usize,
  width: usize,
  inputs: usize,
  quantised: usize,
  after: usize,
  outputs: usize,
): void {
  quantise(before, width, inputs, quantised);
  const low = f32x4.splat(quantisedLow);
  const step = f32x4.splat(quantisedStep);
  const pitch = outputs * FLOAT;
  let block = weights;
  for (let at: usize = 0; at < pitch; at += 2 * VECTOR) {
    multiplyBytes(block, quantised, quantised + inputs, after + at);
    for (let half = at; half < at + 2 * VECTOR; half += VECTOR) {
      const scale = f32x4.mul(v128.load(factors + half), step);
      const base = multiplyAdd(v128.load(factors + 2 * pitch + half), low, v128.load(factors + pitch + half));
      v128.store(after + half, multiplyAdd(base, f32x4.convert_i32x4_s(v128.load(after + half)), scale));
    }
    block += inputs * ROWS;
  }
}

let quantisedLow: f32 = 0;
let quantisedStep: f32 = 0;

/** Quantises sixteen elements at a time; values beyond `width` are arbitrary, since their weights are 0. */
function quantise(before: usize, width: usize, inputs: usize, quantised: usize): void {
  let least = f32x4.splat(load<f32>(before));
  let most = least;
  const whole = before + (width & ~3) * FLOAT;
  let at = before;
  for (; at < whole; at += VECTOR) {
    const x = v128.load(at);
    least = f32x4.min(least, x);
    most = f32x4.max(most, x);
  }
  for (; at < before + width * FLOAT; at += FLOAT) {
    const x = v128.load32_splat(at);
    least = f32x4.min(least, x);
    most = f32x4.max(most, x);
  }
  quantisedLow = smallest(least);
  quantisedStep = (largest(most) - quantisedLow) / STEPS;
  const low = f32x4.splat(quantisedLow);
  const perStep = f32x4.splat(quantisedStep > 0 ? <f32>1 / quantisedStep : 0);
  const top = f32x4.splat(STEPS);
  for (let to: usize = 0; to < inputs; to += BYTES) {
    const from = before + to * FLOAT;
    const a = i16x8.narrow_i32x4_s(stepsOf(from, low, perStep, top), stepsOf(from + 16, low, perStep, top));
    const b = i16x8.narrow_i32x4_s(stepsOf(from + 32, low, perStep, top), stepsOf(from + 48, low, perStep, top));
    v128.store(quantised + to, i8x16.narrow_i16x8_s(a, b));
  }
}

/** Four elements as whole numbers from 0 to 127. */
function stepsOf(from: usize, low: v128, perStep: v128, top: v128): v128 {
  const steps = f32x4.nearest(f32x4.mul(f32x4.sub(v128.load(from), low), perStep));
  return i32x4.trunc_sat_f32x4_s(f32x4.min(f32x4.max(steps, f32x4.splat(0)), top));
}

/** Eight sums of products of bytes, as whole numbers of 32 bits. */
function multiplyBytes(block: usize, quantised: usize, end: usize, after: usize): void {
  let row = block;
  let sum0 = i32x4.splat(0);
  let sum1 = sum0;
  let sum2 = sum0;
  let sum3 = sum0;
  let sum4 = sum0;
  let sum5 = sum0;
  let sum6 = sum0;
  let sum7 = sum0;
  for (let at = quantised; at < end; at += BYTES) {
    const x = v128.load(at);
    sum0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row), x, sum0);
    sum1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 16), x, sum1);
    sum2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 32), x, sum2);
    sum3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 48), x, sum3);
    sum4 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 64), x, sum4);
    sum5 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 80), x, sum5);
    sum6 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 96), x, sum6);
    sum7 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(row, 112), x, sum7);
    row += BYTES * ROWS;
  }
  v128.store(after, sumLanes(sum0, sum1, sum2, sum3));
  v128.store(after, sumLanes(sum4, sum5, sum6, sum7), 16);
}

/** The sum of each vector's four lanes. */
function sumLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7));
}

/** max(x, 0), in place. */
export function relu(row: usize, width: usize): void {
  const zero = f32x4.splat(0);
  for (let at = row; at < row + width * FLOAT; at += VECTOR) v128.store(at, f32x4.max(v128.load(at), zero));
}

/** x, or slope·x where that is below 0, in place. */
export function leakyRelu(row: usize, width: usize, slope: f32): void {
  const zero = f32x4.splat(0);
  for (let at = row; at < row + width * FLOAT; at += VECTOR) {
    const x = v128.load(at);
    v128.store(at, v128.bitselect(f32x4.mul(x, f32x4.splat(slope)), x, f32x4.lt(x, zero)));
  }
}

/** In place. */
export function tanh(row: usize, width: usize): void {
  for (let at = row; at < row + width * FLOAT; at += VECTOR) v128.store(at, tanhOf(v128.load(at)));
}

/** (1 + tanh(x/2))/2, in place. */
export function sigmoid(row: usize, width: usize): void {
  const half = f32x4.splat(0.5);
  for (let at = row; at < row + width * FLOAT; at += VECTOR) {
    v128.store(at, multiplyAdd(half, half, tanhOf(f32x4.mul(half, v128.load(at)))));
  }
}

/** e^(x − max) over the sum of all, in place. */
export function softmax(row: usize, width: usize): void {
  const end = row + width * FLOAT;
  let most = v128.load32_splat(row);
  for (let at = row; at < end; at += FLOAT) most = f32x4.max(most, v128.load32_splat(at));
  // The padding of the last vector must add nothing to the sum.
  for (let at = end; (at & (VECTOR - 1)) != 0; at += FLOAT) store<f32>(at, -Infinity);
  let sum = f32x4.splat(0);
  for (let at = row; at < end; at += VECTOR) {
    const x = f32x4.sub(v128.load(at), most);
    const e = v128.and(expOf(x), f32x4.ge(x, f32x4.splat(EXP_LIMIT)));
    v128.store(at, e);
    sum = f32x4.add(sum, e);
  }
  const total =
    f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1) + f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3);
  const share = f32x4.splat(<f32>1 / total);
  for (let at = row; at < end; at += VECTOR) v128.store(at, f32x4.mul(v128.load(at), share));
}

function smallest(x: v128): f32 {
  return min(
    min(f32x4.extract_lane(x, 0), f32x4.extract_lane(x, 1)),
    min(f32x4.extract_lane(x, 2), f32x4.extract_lane(x, 3)),
  );
}

function largest(x: v128): f32 {
  return max(
    max(f32x4.extract_lane(x, 0), f32x4.extract_lane(x, 1)),
    max(f32x4.extract_lane(x, 2), f32x4.extract_lane(x, 3)),
  );
}

/** 2^n · e^r with x = n·ln 2 + r and |r| ≤ ln 2/2, where Taylor's series to r⁶ is within 2e-7. For x ≤ 0. */
function expOf(value: v128): v128 {
  const x = f32x4.max(value, f32x4.splat(EXP_LIMIT));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.4426950408889634)));
  // ln 2 in two parts; the first times n is exact.
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  let sum = multiplyAdd(f32x4.splat(1.0 / 120), r, f32x4.splat(1.0 / 720));
  sum = multiplyAdd(f32x4.splat(1.0 / 24), r, sum);
  sum = multiplyAdd(f32x4.splat(1.0 / 6), r, sum);
  sum = multiplyAdd(f32x4.splat(0.5), r, sum);
  sum = multiplyAdd(f32x4.splat(1), r, sum);
  sum = multiplyAdd(f32x4.splat(1), r, sum);
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(sum, power);
}

/** The eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. */
function tanhOf(value: v128): v128 {
  const x = f32x4.max(f32x4.min(value, f32x4.splat(TANH_LIMIT)), f32x4.splat(-TANH_LIMIT));
  const z = f32x4.mul(x, x);
  let over = f32x4.add(z, f32x4.splat(2145));
  over = multiplyAdd(f32x4.splat(675675), z, over);
  over = multiplyAdd(f32x4.splat(64324260), z, over);
  over = multiplyAdd(f32x4.splat(1964187225), z, over);
  over = multiplyAdd(f32x4.splat(13749310575), z, over);
  let under = multiplyAdd(f32x4.splat(45045), z, f32x4.splat(66));
  under = multiplyAdd(f32x4.splat(7567560), z, under);
  under = multiplyAdd(f32x4.splat(413513100), z, under);
  under = multiplyAdd(f32x4.splat(6547290750), z, under);
  under = multiplyAdd(f32x4.splat(13749310575), z, under);
  return f32x4.div(f32x4.mul(x, over), under);
}
