// Circular convolution with 128-bit SIMD: a transform of h = d/2 complex numbers in place, real and imaginary parts
// apart, four butterflies at a time. Bins stay at places with reversed bits: products are taken there, and the way
// back mirrors the way there. h is at least 32.

let half: i32 = 0;
let firstInput: usize = 0;
let secondInput: usize = 0;
let output: usize = 0;
let x: usize = 0; // h real parts, then h imaginary parts
let y: usize = 0;
let roots: usize = 0; // of every length of the way: w, w², w³, each with its real parts before its imaginary ones
let halvingRoots: usize = 0;
let binRoots: usize = 0; // exp(−2πi·k/d) of the bin at each place: real parts, then imaginary parts

export function prepare(dimension: i32, pairs: i32): void {
  half = dimension / 2;
  const vectors = <usize>pairs * dimension * 4;
  firstInput = heap.alloc(vectors);
  secondInput = heap.alloc(vectors);
  output = heap.alloc(vectors);
  x = heap.alloc(<usize>dimension * 4);
  y = heap.alloc(<usize>dimension * 4);
  const bits = 31 - clz(half);
  let at = heap.alloc(<usize>half * 16);
  roots = at;
  for (let length = bits % 2 == 0 ? half : half / 2; length > 4; length /= 4) {
    for (let power = 1; power <= 3; power++) at = writeRoots(at, length / 4, power, length);
  }
  halvingRoots = heap.alloc(<usize>half * 4);
  writeRoots(halvingRoots, half / 2, 1, half);
  binRoots = heap.alloc(<usize>half * 8);
  for (let place = 0; place < half; place++) {
    let k = 0;
    for (let bit = 0; bit < bits; bit++) k |= ((place >> bit) & 1) << (bits - 1 - bit);
    const angle = (-2 * Math.PI * k) / dimension;
    store<f32>(binRoots + 4 * place, <f32>Math.cos(angle));
    store<f32>(binRoots + 4 * (half + place), <f32>Math.sin(angle));
  }
}

function writeRoots(at: usize, count: i32, power: i32, length: i32): usize {
  for (let j = 0; j < count; j++) {
    const angle = (-2 * Math.PI * j * power) / length;
    store<f32>(at + 4 * j, <f32>Math.cos(angle));
    store<f32>(at + 4 * (count + j), <f32>Math.sin(angle));
  }
  return at + 8 * count;
}

export function first(): usize {
  return firstInput;
}

export function second(): usize {
  return secondInput;
}

export function result(): usize {
  return output;
}

export function bindAll(pairs: i32): void {
  const size = <usize>half * 8;
  for (let pair = 0; pair < pairs; pair++) {
    unpack(firstInput + pair * size, x);
    unpack(secondInput + pair * size, y);
    transform(x);
    transform(y);
    multiply();
    restore(x);
    pack(x, output + pair * size);
  }
}

function unpack(values: usize, to: usize): void {
  const size = <usize>half * 4;
  for (let i: usize = 0; i < size; i += 16) {
    const a = v128.load(values + 2 * i);
    const b = v128.load(values + 2 * i, 16);
    v128.store(to + i, v128.shuffle<f32>(a, b, 0, 2, 4, 6));
    v128.store(to + size + i, v128.shuffle<f32>(a, b, 1, 3, 5, 7));
  }
}

function pack(values: usize, to: usize): void {
  const size = <usize>half * 4;
  for (let i: usize = 0; i < size; i += 16) {
    const re = v128.load(values + i);
    const im = v128.load(values + size + i);
    v128.store(to + 2 * i, v128.shuffle<f32>(re, im, 0, 4, 1, 5));
    v128.store(to + 2 * i, v128.shuffle<f32>(re, im, 2, 6, 3, 7), 16);
  }
}

@inline
function timesRe(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return f32x4.sub(f32x4.mul(aRe, bRe), f32x4.mul(aIm, bIm));
}

@inline
function timesIm(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return f32x4.add(f32x4.mul(aRe, bIm), f32x4.mul(aIm, bRe));
}

@inline
function conjugateRe(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return f32x4.add(f32x4.mul(aRe, bRe), f32x4.mul(aIm, bIm));
}

@inline
function conjugateIm(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return f32x4.sub(f32x4.mul(aIm, bRe), f32x4.mul(aRe, bIm));
}

function transform(z: usize): void {
  const size = <usize>half * 4;
  let length = half;
  if ((31 - clz(half)) % 2 == 1) {
    halve(z);
    length /= 2;
  }
  let root = roots;
  for (; length > 4; length /= 4) {
    const step = <usize>length;
    for (let block: usize = 0; block < size; block += 4 * step) {
      for (let j: usize = 0; j < step; j += 16) {
        const a = z + block + j;
        const b = a + step;
        const c = b + step;
        const d = c + step;
        const aRe = v128.load(a);
        const aIm = v128.load(a + size);
        const bRe = v128.load(b);
        const bIm = v128.load(b + size);
        const cRe = v128.load(c);
        const cIm = v128.load(c + size);
        const dRe = v128.load(d);
        const dIm = v128.load(d + size);
        const evenRe = f32x4.add(aRe, cRe);
        const evenIm = f32x4.add(aIm, cIm);
        const oddRe = f32x4.add(bRe, dRe);
        const oddIm = f32x4.add(bIm, dIm);
        const pRe = f32x4.sub(aRe, cRe);
        const pIm = f32x4.sub(aIm, cIm);
        const qRe = f32x4.sub(bIm, dIm);
        const qIm = f32x4.sub(dRe, bRe);
        v128.store(a, f32x4.add(evenRe, oddRe));
        v128.store(a + size, f32x4.add(evenIm, oddIm));
        const sRe = f32x4.sub(evenRe, oddRe);
        const sIm = f32x4.sub(evenIm, oddIm);
        const r = root + j;
        const oneRe = v128.load(r);
        const oneIm = v128.load(r + step);
        const twoRe = v128.load(r + 2 * step);
        const twoIm = v128.load(r + 3 * step);
        const threeRe = v128.load(r + 4 * step);
        const threeIm = v128.load(r + 5 * step);
        v128.store(b, timesRe(sRe, sIm, twoRe, twoIm));
        v128.store(b + size, timesIm(sRe, sIm, twoRe, twoIm));
        const uRe = f32x4.add(pRe, qRe);
        const uIm = f32x4.add(pIm, qIm);
        v128.store(c, timesRe(uRe, uIm, oneRe, oneIm));
        v128.store(c + size, timesIm(uRe, uIm, oneRe, oneIm));
        const vRe = f32x4.sub(pRe, qRe);
        const vIm = f32x4.sub(pIm, qIm);
        v128.store(d, timesRe(vRe, vIm, threeRe, threeIm));
        v128.store(d + size, timesIm(vRe, vIm, threeRe, threeIm));
      }
    }
    root += 6 * step;
  }
  lastFour(z, false);
}

function restore(z: usize): void {
  const size = <usize>half * 4;
  const odd = (31 - clz(half)) % 2 == 1;
  const longest = odd ? half / 2 : half;
  lastFour(z, true);
  // The roots of a length stand behind those of all longer ones: 6 quarters of each.
  for (let length = 16; length <= longest; length *= 4) {
    const step = <usize>length;
    let root = roots;
    for (let longer = longest; longer > length; longer /= 4) root += 6 * <usize>longer;
    for (let block: usize = 0; block < size; block += 4 * step) {
      for (let j: usize = 0; j < step; j += 16) {
        const a = z + block + j;
        const b = a + step;
        const c = b + step;
        const d = c + step;
        const r = root + j;
        const bRe = v128.load(b);
        const bIm = v128.load(b + size);
        const cRe = v128.load(c);
        const cIm = v128.load(c + size);
        const dRe = v128.load(d);
        const dIm = v128.load(d + size);
        const oneRe = v128.load(r);
        const oneIm = v128.load(r + step);
        const twoRe = v128.load(r + 2 * step);
        const twoIm = v128.load(r + 3 * step);
        const threeRe = v128.load(r + 4 * step);
        const threeIm = v128.load(r + 5 * step);
        const sRe = conjugateRe(bRe, bIm, twoRe, twoIm);
        const sIm = conjugateIm(bRe, bIm, twoRe, twoIm);
        const uRe = conjugateRe(cRe, cIm, oneRe, oneIm);
        const uIm = conjugateIm(cRe, cIm, oneRe, oneIm);
        const vRe = conjugateRe(dRe, dIm, threeRe, threeIm);
        const vIm = conjugateIm(dRe, dIm, threeRe, threeIm);
        writeQuarters(a, step, size, sRe, sIm, uRe, uIm, vRe, vIm);
      }
    }
  }
  if (odd) joinHalves(z);
}

@inline
function writeQuarters(
  a: usize,
  step: usize,
  size: usize,
  sRe: v128,
  sIm: v128,
  uRe: v128,
  uIm: v128,
  vRe: v128,
  vIm: v128,
): void {
  const aRe = v128.load(a);
  const aIm = v128.load(a + size);
  const evenRe = f32x4.add(aRe, sRe);
  const evenIm = f32x4.add(aIm, sIm);
  const oddRe = f32x4.sub(aRe, sRe);
  const oddIm = f32x4.sub(aIm, sIm);
  const pRe = f32x4.add(uRe, vRe);
  const pIm = f32x4.add(uIm, vIm);
  const qRe = f32x4.sub(vIm, uIm);
  const qIm = f32x4.sub(uRe, vRe);
  v128.store(a, f32x4.add(evenRe, pRe));
  v128.store(a + size, f32x4.add(evenIm, pIm));
  v128.store(a + step, f32x4.add(oddRe, qRe));
  v128.store(a + step + size, f32x4.add(oddIm, qIm));
  v128.store(a + 2 * step, f32x4.sub(evenRe, pRe));
  v128.store(a + 2 * step + size, f32x4.sub(evenIm, pIm));
  v128.store(a + 3 * step, f32x4.sub(oddRe, qRe));
  v128.store(a + 3 * step + size, f32x4.sub(oddIm, qIm));
}

function halve(z: usize): void {
  const size = <usize>half * 4;
  const step = size / 2;
  for (let j: usize = 0; j < step; j += 16) {
    const a = z + j;
    const b = a + step;
    const aRe = v128.load(a);
    const aIm = v128.load(a + size);
    const bRe = v128.load(b);
    const bIm = v128.load(b + size);
    const rootRe = v128.load(halvingRoots + j);
    const rootIm = v128.load(halvingRoots + step + j);
    v128.store(a, f32x4.add(aRe, bRe));
    v128.store(a + size, f32x4.add(aIm, bIm));
    const re = f32x4.sub(aRe, bRe);
    const im = f32x4.sub(aIm, bIm);
    v128.store(b, timesRe(re, im, rootRe, rootIm));
    v128.store(b + size, timesIm(re, im, rootRe, rootIm));
  }
}

function joinHalves(z: usize): void {
  const size = <usize>half * 4;
  const step = size / 2;
  for (let j: usize = 0; j < step; j += 16) {
    const a = z + j;
    const b = a + step;
    const aRe = v128.load(a);
    const aIm = v128.load(a + size);
    const bRe = v128.load(b);
    const bIm = v128.load(b + size);
    const rootRe = v128.load(halvingRoots + j);
    const rootIm = v128.load(halvingRoots + step + j);
    const re = conjugateRe(bRe, bIm, rootRe, rootIm);
    const im = conjugateIm(bRe, bIm, rootRe, rootIm);
    v128.store(a, f32x4.add(aRe, re));
    v128.store(a + size, f32x4.add(aIm, im));
    v128.store(b, f32x4.sub(aRe, re));
    v128.store(b + size, f32x4.sub(aIm, im));
  }
}

// Four blocks of the last four numbers at once: turned over, each lane has a block, and no root is needed.
function lastFour(z: usize, back: bool): void {
  const size = <usize>half * 4;
  for (let block: usize = 0; block < size; block += 64) {
    const re = z + block;
    const im = re + size;
    let a = v128.load(re);
    let b = v128.load(re, 16);
    let c = v128.load(re, 32);
    let d = v128.load(re, 48);
    let low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    let high = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const aRe = v128.shuffle<f32>(low, high, 0, 1, 4, 5);
    const bRe = v128.shuffle<f32>(low, high, 2, 3, 6, 7);
    low = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    high = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    const cRe = v128.shuffle<f32>(low, high, 0, 1, 4, 5);
    const dRe = v128.shuffle<f32>(low, high, 2, 3, 6, 7);
    a = v128.load(im);
    b = v128.load(im, 16);
    c = v128.load(im, 32);
    d = v128.load(im, 48);
    low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    high = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const aIm = v128.shuffle<f32>(low, high, 0, 1, 4, 5);
    const bIm = v128.shuffle<f32>(low, high, 2, 3, 6, 7);
    low = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    high = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    const cIm = v128.shuffle<f32>(low, high, 0, 1, 4, 5);
    const dIm = v128.shuffle<f32>(low, high, 2, 3, 6, 7);
    if (back) {
      const evenRe = f32x4.add(aRe, bRe);
      const evenIm = f32x4.add(aIm, bIm);
      const oddRe = f32x4.sub(aRe, bRe);
      const oddIm = f32x4.sub(aIm, bIm);
      const pRe = f32x4.add(cRe, dRe);
      const pIm = f32x4.add(cIm, dIm);
      const qRe = f32x4.sub(dIm, cIm);
      const qIm = f32x4.sub(cRe, dRe);
      write4(re, f32x4.add(evenRe, pRe), f32x4.add(oddRe, qRe), f32x4.sub(evenRe, pRe), f32x4.sub(oddRe, qRe));
      write4(im, f32x4.add(evenIm, pIm), f32x4.add(oddIm, qIm), f32x4.sub(evenIm, pIm), f32x4.sub(oddIm, qIm));
    } else {
      const evenRe = f32x4.add(aRe, cRe);
      const evenIm = f32x4.add(aIm, cIm);
      const oddRe = f32x4.add(bRe, dRe);
      const oddIm = f32x4.add(bIm, dIm);
      const pRe = f32x4.sub(aRe, cRe);
      const pIm = f32x4.sub(aIm, cIm);
      const qRe = f32x4.sub(bIm, dIm);
      const qIm = f32x4.sub(dRe, bRe);
      write4(re, f32x4.add(evenRe, oddRe), f32x4.sub(evenRe, oddRe), f32x4.add(pRe, qRe), f32x4.sub(pRe, qRe));
      write4(im, f32x4.add(evenIm, oddIm), f32x4.sub(evenIm, oddIm), f32x4.add(pIm, qIm), f32x4.sub(pIm, qIm));
    }
  }
}

@inline
function write4(to: usize, a: v128, b: v128, c: v128, d: v128): void {
  let low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  let high = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  v128.store(to, v128.shuffle<f32>(low, high, 0, 1, 4, 5));
  v128.store(to, v128.shuffle<f32>(low, high, 2, 3, 6, 7), 16);
  low = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  high = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(low, high, 0, 1, 4, 5), 32);
  v128.store(to, v128.shuffle<f32>(low, high, 2, 3, 6, 7), 48);
}

// Bins k and h − k stand mirrored in every octave of places, so four couples at a time from the third octave on.
function multiply(): void {
  multiplyOne(0, 0);
  multiplyOne(1, 1);
  multiplyOne(2, 3);
  multiplyOne(4, 7);
  multiplyOne(5, 6);
  for (let octave = 8; octave < half; octave *= 2) {
    for (let at = octave; at < octave + octave / 2; at += 4) multiplyFour(at, 3 * octave - 4 - at);
  }
}

function multiplyOne(at: i32, mirror: i32): void {
  const size = <usize>half * 4;
  const a = <usize>at * 4;
  const m = <usize>mirror * 4;
  const four = multiplyBins(
    v128.load32_zero(x + a),
    v128.load32_zero(x + size + a),
    v128.load32_zero(x + m),
    v128.load32_zero(x + size + m),
    v128.load32_zero(y + a),
    v128.load32_zero(y + size + a),
    v128.load32_zero(y + m),
    v128.load32_zero(y + size + m),
    v128.load32_zero(binRoots + a),
    v128.load32_zero(binRoots + size + a),
  );
  store<f32>(x + a, f32x4.extract_lane(four, 0));
  store<f32>(x + size + a, f32x4.extract_lane(lowIm, 0));
  store<f32>(x + m, f32x4.extract_lane(highRe, 0));
  store<f32>(x + size + m, f32x4.extract_lane(highIm, 0));
}

@inline
function turnOver(values: v128): v128 {
  return v128.shuffle<f32>(values, values, 3, 2, 1, 0);
}

function multiplyFour(at: i32, mirror: i32): void {
  const size = <usize>half * 4;
  const a = <usize>at * 4;
  const m = <usize>mirror * 4;
  const lowRe = multiplyBins(
    v128.load(x + a),
    v128.load(x + size + a),
    turnOver(v128.load(x + m)),
    turnOver(v128.load(x + size + m)),
    v128.load(y + a),
    v128.load(y + size + a),
    turnOver(v128.load(y + m)),
    turnOver(v128.load(y + size + m)),
    v128.load(binRoots + a),
    v128.load(binRoots + size + a),
  );
  v128.store(x + a, lowRe);
  v128.store(x + size + a, lowIm);
  v128.store(x + m, turnOver(highRe));
  v128.store(x + size + m, turnOver(highIm));
}

let lowIm: v128 = f32x4.splat(0);
let highRe: v128 = f32x4.splat(0);
let highIm: v128 = f32x4.splat(0);

// Couples of bins, taken apart into those of reals, multiplied and put together again; the rest of the result is in globals.
@inline
function multiplyBins(
  xRe: v128,
  xIm: v128,
  xMirrorRe: v128,
  xMirrorIm: v128,
  yRe: v128,
  yIm: v128,
  yMirrorRe: v128,
  yMirrorIm: v128,
  rootRe: v128,
  rootIm: v128,
): v128 {
  const scale = f32x4.splat(1 / (<f32>4 * <f32>half));
  const xEvenRe = f32x4.add(xRe, xMirrorRe);
  const xEvenIm = f32x4.sub(xIm, xMirrorIm);
  const xTurnedRe = f32x4.add(xIm, xMirrorIm);
  const xTurnedIm = f32x4.sub(xMirrorRe, xRe);
  const xOddRe = timesRe(xTurnedRe, xTurnedIm, rootRe, rootIm);
  const xOddIm = timesIm(xTurnedRe, xTurnedIm, rootRe, rootIm);
  const yEvenRe = f32x4.add(yRe, yMirrorRe);
  const yEvenIm = f32x4.sub(yIm, yMirrorIm);
  const yTurnedRe = f32x4.add(yIm, yMirrorIm);
  const yTurnedIm = f32x4.sub(yMirrorRe, yRe);
  const yOddRe = timesRe(yTurnedRe, yTurnedIm, rootRe, rootIm);
  const yOddIm = timesIm(yTurnedRe, yTurnedIm, rootRe, rootIm);
  const evenRe = f32x4.add(timesRe(xEvenRe, xEvenIm, yEvenRe, yEvenIm), timesRe(xOddRe, xOddIm, yOddRe, yOddIm));
  const evenIm = f32x4.add(timesIm(xEvenRe, xEvenIm, yEvenRe, yEvenIm), timesIm(xOddRe, xOddIm, yOddRe, yOddIm));
  const crossRe = f32x4.add(timesRe(xEvenRe, xEvenIm, yOddRe, yOddIm), timesRe(xOddRe, xOddIm, yEvenRe, yEvenIm));
  const crossIm = f32x4.add(timesIm(xEvenRe, xEvenIm, yOddRe, yOddIm), timesIm(xOddRe, xOddIm, yEvenRe, yEvenIm));
  const oddRe = conjugateRe(crossRe, crossIm, rootRe, rootIm);
  const oddIm = conjugateIm(crossRe, crossIm, rootRe, rootIm);
  lowIm = f32x4.mul(scale, f32x4.add(evenIm, oddRe));
  highRe = f32x4.mul(scale, f32x4.add(evenRe, oddIm));
  highIm = f32x4.mul(scale, f32x4.sub(oddRe, evenIm));
  return f32x4.mul(scale, f32x4.sub(evenRe, oddIm));
}
