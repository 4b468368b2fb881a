// Noise of members and what is made of it: the twin of noise.wgsl, perturb.wgsl and recombine.wgsl. Lanes are four
// blocks of four parameters, which is a GROUP.

const NOISE_STREAM: u32 = 2;
const GROUP: u32 = 16;
const GROUP_BYTES: usize = 64;

// Words of four counters, and the noise of four blocks: number n of each.
let words0: v128 = i32x4(0, 0, 0, 0);
let words1: v128 = i32x4(0, 0, 0, 0);
let words2: v128 = i32x4(0, 0, 0, 0);
let words3: v128 = i32x4(0, 0, 0, 0);
let noise0: v128 = i32x4(0, 0, 0, 0);
let noise1: v128 = i32x4(0, 0, 0, 0);
let noise2: v128 = i32x4(0, 0, 0, 0);
let noise3: v128 = i32x4(0, 0, 0, 0);

// @ts-ignore: decorator
@inline
function takeUpper(even: v128, odd: v128): v128 {
  return v128.shuffle<i32>(even, odd, 1, 3, 5, 7);
}

// @ts-ignore: decorator
@inline
function takeLower(even: v128, odd: v128): v128 {
  return v128.shuffle<i32>(even, odd, 0, 2, 4, 6);
}

/** Philox4x32-10 of four counters under one key. */
function mixCounters(counter0: v128, counter1: v128, counter2: v128, counter3: v128, key0: u32, key1: u32): void {
  let c0 = counter0;
  let c1 = counter1;
  let c2 = counter2;
  let c3 = counter3;
  let k0 = key0;
  let k1 = key1;
  const by0 = i32x4.splat(0xd2511f53);
  const by1 = i32x4.splat(0xcd9e8d57);
  for (let round = 0; round < 10; round++) {
    const low0 = i64x2.extmul_low_i32x4_u(c0, by0);
    const high0 = i64x2.extmul_high_i32x4_u(c0, by0);
    const low1 = i64x2.extmul_low_i32x4_u(c2, by1);
    const high1 = i64x2.extmul_high_i32x4_u(c2, by1);
    c0 = v128.xor(v128.xor(takeUpper(low1, high1), c1), i32x4.splat(k0));
    c1 = takeLower(low1, high1);
    c2 = v128.xor(v128.xor(takeUpper(low0, high0), c3), i32x4.splat(k1));
    c3 = takeLower(low0, high0);
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  words0 = c0;
  words1 = c1;
  words2 = c2;
  words3 = c3;
}

/** In [0, 2²⁴). */
// @ts-ignore: decorator
@inline
function upperBits(words: v128): v128 {
  return i32x4.shr_u(words, 8);
}

/** Of a word: √(−2 ln u), u in (0, 1]. */
// @ts-ignore: decorator
@inline
function findRadius(words: v128): v128 {
  const count = f32x4.convert_i32x4_u(i32x4.add(upperBits(words), i32x4.splat(1)));
  const share = f32x4.mul(count, f32x4.splat(5.9604644775390625e-8));
  return f32x4.sqrt(f32x4.mul(f32x4.splat(-2), naturalLogarithm(share)));
}

/** Standard normal noise of the blocks from `block` on, by the transform of Box and Muller (1958). */
function drawNoise(seed: u32, generation: u32, drawn: u32, block: u32): void {
  const blocks = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3));
  mixCounters(i32x4.splat(drawn), i32x4.splat(generation), blocks, i32x4.splat(0), seed, NOISE_STREAM);
  transformWords();
}

/** Leaves four standard normal numbers of the last words that a lane drew, in every lane. */
function toNormals(): void {
  words0 = i32x4.splat(word0);
  words1 = i32x4.splat(word1);
  words2 = i32x4.splat(word2);
  words3 = i32x4.splat(word3);
  transformWords();
}

function transformWords(): void {
  const turn = f32x4.splat(5.9604644775390625e-8);
  const first = findRadius(words0);
  findSineCosineOfTurn(f32x4.mul(f32x4.convert_i32x4_u(upperBits(words1)), turn));
  noise0 = f32x4.mul(first, cosine);
  noise1 = f32x4.mul(first, sine);
  const second = findRadius(words2);
  findSineCosineOfTurn(f32x4.mul(f32x4.convert_i32x4_u(upperBits(words3)), turn));
  noise2 = f32x4.mul(second, cosine);
  noise3 = f32x4.mul(second, sine);
}

/** Leaves the four numbers of each block beside each other. */
// @ts-ignore: decorator
@inline
function transposeNoise(): void {
  const a = v128.shuffle<i32>(noise0, noise1, 0, 4, 1, 5);
  const b = v128.shuffle<i32>(noise2, noise3, 0, 4, 1, 5);
  const c = v128.shuffle<i32>(noise0, noise1, 2, 6, 3, 7);
  const d = v128.shuffle<i32>(noise2, noise3, 2, 6, 3, 7);
  noise0 = v128.shuffle<i64>(a, b, 0, 2);
  noise1 = v128.shuffle<i64>(a, b, 1, 3);
  noise2 = v128.shuffle<i64>(c, d, 0, 2);
  noise3 = v128.shuffle<i64>(c, d, 1, 3);
}

/**
 * Members become mean + sigma ⊙ noise, a share of the draws in each thread. Means and sigmas have whole groups.
 */
export function perturb(
  share: u32,
  shares: u32,
  members: u32,
  seed: u32,
  generation: u32,
  mirrored: bool,
  means: usize,
  sigmas: usize,
): void {
  const each: u32 = mirrored ? 2 : 1;
  const draws = (members + each - 1) / each;
  const end = <u32>((<u64>draws * (share + 1)) / shares);
  for (let drawn = <u32>((<u64>draws * share) / shares); drawn < end; drawn++) {
    const member = drawn * each;
    const row = rows + <usize>member * rowBytes;
    for (let at: usize = 0; at < rowBytes; at += GROUP_BYTES) {
      drawNoise(seed, generation, drawn, <u32>(at >> 4));
      transposeNoise();
      noise0 = f32x4.mul(v128.load(sigmas + at), noise0);
      noise1 = f32x4.mul(v128.load(sigmas + at, 16), noise1);
      noise2 = f32x4.mul(v128.load(sigmas + at, 32), noise2);
      noise3 = f32x4.mul(v128.load(sigmas + at, 48), noise3);
      moveGroup(row + at, means + at, rowBytes - at, 1);
      if (mirrored && member + 1 < members) moveGroup(row + rowBytes + at, means + at, rowBytes - at, -1);
    }
  }
}

/** Stores means and what the noise says, but not beyond the row. */
// @ts-ignore: decorator
@inline
function moveGroup(to: usize, means: usize, bytesLeft: usize, sign: f32): void {
  const by = f32x4.splat(sign);
  const into = bytesLeft < GROUP_BYTES ? spare : to;
  v128.store(into, f32x4.add(v128.load(means), f32x4.mul(by, noise0)));
  v128.store(into, f32x4.add(v128.load(means, 16), f32x4.mul(by, noise1)), 16);
  v128.store(into, f32x4.add(v128.load(means, 32), f32x4.mul(by, noise2)), 32);
  v128.store(into, f32x4.add(v128.load(means, 48), f32x4.mul(by, noise3)), 48);
  if (into != to) memory.copy(to, into, bytesLeft);
}

/**
 * Sums of utility · noise, and of its square, for a share of the parameters. Factors are two floats a draw; sums have
 * whole groups. The order of additions is that of recombine.wgsl: span by span.
 */
export function recombine(
  share: u32,
  shares: u32,
  draws: u32,
  drawsOfSpan: u32,
  seed: u32,
  generation: u32,
  factors: usize,
  sums: usize,
  squares: usize,
): void {
  const groups = (<u32>(rowBytes / FLOAT) + GROUP - 1) / GROUP;
  const end = (groups * (share + 1)) / shares;
  for (let group = (groups * share) / shares; group < end; group++) {
    const at = <usize>group * GROUP_BYTES;
    memory.fill(sums + at, 0, GROUP_BYTES);
    memory.fill(squares + at, 0, GROUP_BYTES);
    for (let first: u32 = 0; first < draws; first += drawsOfSpan) {
      memory.fill(spare, 0, 2 * GROUP_BYTES);
      const last = min(draws, first + drawsOfSpan);
      for (let drawn = first; drawn < last; drawn++) {
        const factor = load<f32>(factors + 8 * <usize>drawn);
        const squareFactor = load<f32>(factors + 8 * <usize>drawn, 4);
        if (factor == 0 && squareFactor == 0) continue;
        drawNoise(seed, generation, drawn, 4 * group);
        const by = f32x4.splat(factor);
        const squareBy = f32x4.splat(squareFactor);
        addNoise(spare, by, squareBy, noise0);
        addNoise(spare + 16, by, squareBy, noise1);
        addNoise(spare + 32, by, squareBy, noise2);
        addNoise(spare + 48, by, squareBy, noise3);
      }
      addGroup(sums + at, spare);
      addGroup(squares + at, spare + GROUP_BYTES);
    }
    transposeGroup(sums + at);
    transposeGroup(squares + at);
  }
}

// @ts-ignore: decorator
@inline
function addNoise(to: usize, by: v128, squareBy: v128, noise: v128): void {
  v128.store(to, multiplyAdd(v128.load(to), by, noise));
  const square = f32x4.mul(noise, noise);
  v128.store(to, multiplyAdd(v128.load(to, 64), squareBy, square), 64);
}

// @ts-ignore: decorator
@inline
function addGroup(to: usize, from: usize): void {
  for (let at: usize = 0; at < GROUP_BYTES; at += VECTOR) {
    v128.store(to + at, f32x4.add(v128.load(to + at), v128.load(from + at)));
  }
}

function transposeGroup(at: usize): void {
  noise0 = v128.load(at);
  noise1 = v128.load(at, 16);
  noise2 = v128.load(at, 32);
  noise3 = v128.load(at, 48);
  transposeNoise();
  v128.store(at, noise0);
  v128.store(at, noise1, 16);
  v128.store(at, noise2, 32);
  v128.store(at, noise3, 48);
}

const BREEDING_STREAM: u32 = 5;

/**
 * The next generation out of this one, as breed.wgsl has it, a share of the children in each thread. Parents are two
 * words for each child; children are rows beside the present ones.
 */
export function breed(
  share: u32,
  shares: u32,
  members: u32,
  seed: u32,
  generation: u32,
  elites: u32,
  rate: f32,
  sigma: f32,
  parents: usize,
  children: usize,
): void {
  const end = <u32>((<u64>members * (share + 1)) / shares);
  for (let member = <u32>((<u64>members * share) / shares); member < end; member++) {
    const pair = parents + 8 * <usize>member;
    const first = rows + <usize>load<u32>(pair) * rowBytes;
    const second = rows + <usize>load<u32>(pair, 4) * rowBytes;
    const child = children + <usize>member * rowBytes;
    if (member < elites) {
      memory.copy(child, first, rowBytes);
      continue;
    }
    for (let at: usize = 0; at < rowBytes; at += GROUP_BYTES) {
      breedGroup(first + at, second + at, child + at, rowBytes - at, seed, generation, member, <u32>(at >> 4), rate, sigma);
    }
  }
}

function breedGroup(
  first: usize,
  second: usize,
  child: usize,
  bytesLeft: usize,
  seed: u32,
  generation: u32,
  member: u32,
  block: u32,
  rate: f32,
  sigma: f32,
): void {
  const blocks = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3));
  mixCounters(i32x4.splat(member), i32x4.splat(generation), blocks, i32x4.splat(0), seed, BREEDING_STREAM);
  noise0 = words0;
  noise1 = words1;
  noise2 = words2;
  noise3 = words3;
  transposeNoise();
  const own0 = noise0;
  const own1 = noise1;
  const own2 = noise2;
  const own3 = noise3;
  drawNoise(seed, generation, member, block);
  transposeNoise();
  const into = bytesLeft < GROUP_BYTES ? spare : child;
  v128.store(into, breedNumbers(v128.load(first), v128.load(second), own0, noise0, rate, sigma));
  v128.store(into, breedNumbers(v128.load(first, 16), v128.load(second, 16), own1, noise1, rate, sigma), 16);
  v128.store(into, breedNumbers(v128.load(first, 32), v128.load(second, 32), own2, noise2, rate, sigma), 32);
  v128.store(into, breedNumbers(v128.load(first, 48), v128.load(second, 48), own3, noise3, rate, sigma), 48);
  if (into != child) memory.copy(child, into, bytesLeft);
}

/** Either parent's, and mutated where the word says so. */
// @ts-ignore: decorator
@inline
function breedNumbers(first: v128, second: v128, words: v128, noise: v128, rate: f32, sigma: f32): v128 {
  const one = i32x4.splat(1);
  const chosen = choose(second, first, i32x4.eq(v128.and(words, one), one));
  const uniform = times(f32x4.convert_i32x4_u(upperBits(words)), all(5.9604644775390625e-8));
  return plus(chosen, v128.and(times(all(sigma), noise), f32x4.lt(uniform, all(rate))));
}
