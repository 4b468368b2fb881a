// Evolution on one thread with SIMD where it helps; pointers are bytes into the memory, numbers 32 bits wide.

export function allocate(sizeBytes: usize): usize {
  return heap.alloc(sizeBytes);
}

/* Sorting */

// Merge sort of indexes, stable; the result is in `items`.
function sort(items: usize, spare: usize, length: i32, isBefore: (a: i32, b: i32) => bool): void {
  let source = items;
  let target = spare;
  for (let width = 1; width < length; width <<= 1) {
    for (let start = 0; start < length; start += width << 1) {
      const middle = min(start + width, length);
      const end = min(start + (width << 1), length);
      let left = start;
      let right = middle;
      for (let sink = start; sink < end; sink++) {
        const isRight =
          left == middle || (right < end && isBefore(load<i32>(source + (right << 2)), load<i32>(source + (left << 2))));
        const from = isRight ? right++ : left++;
        store<i32>(target + (sink << 2), load<i32>(source + (from << 2)));
      }
    }
    const swap = source;
    source = target;
    target = swap;
  }
  if (source != items) memory.copy(items, source, length << 2);
}

// Data of comparisons as globals: functions here have no closures.
let values: usize = 0;
let ranks: usize = 0;
let width: i32 = 0;
let column: i32 = 0;

/* One generation */

const words = heap.alloc(64);

// The upper halves of four products.
@inline function multiplyHigh(a: v128, b: v128): v128 {
  return i8x16.shuffle(
    i64x2.extmul_low_i32x4_u(a, b), i64x2.extmul_high_i32x4_u(a, b),
    4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31,
  );
}

// Four blocks of Philox4x32-10, one a lane, with the counters (c0, c1, c2, 0): sixteen words in the order of draws.
@inline function philox(c0: v128, c1: v128, c2: v128, seed: i32, generation: i32): void {
  let c3 = i32x4.splat(0);
  let k0 = seed;
  let k1 = generation;
  const m0 = i32x4.splat(0xd2511f53);
  const m1 = i32x4.splat(0xcd9e8d57);
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(m0, c0);
    const high1 = multiplyHigh(m1, c2);
    const low0 = i32x4.mul(m0, c0);
    const low1 = i32x4.mul(m1, c2);
    c0 = v128.xor(v128.xor(high1, c1), i32x4.splat(k0));
    c1 = low1;
    c2 = v128.xor(v128.xor(high0, c3), i32x4.splat(k1));
    c3 = low0;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  const low01 = i8x16.shuffle(c0, c1, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const high01 = i8x16.shuffle(c0, c1, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  const low23 = i8x16.shuffle(c2, c3, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const high23 = i8x16.shuffle(c2, c3, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  v128.store(words, i8x16.shuffle(low01, low23, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23));
  v128.store(words, i8x16.shuffle(low01, low23, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31), 16);
  v128.store(words, i8x16.shuffle(high01, high23, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23), 32);
  v128.store(words, i8x16.shuffle(high01, high23, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31), 48);
}

function normal(draw: i32, draws: i32): f32 {
  const mirrored = draws - 1 - draw;
  const outer = min(draw, mirrored);
  const tail = (<f32>outer + 0.5) / <f32>draws;
  const x = <f32>(draws - 1 - 2 * outer) / <f32>draws;
  const w = -Mathf.log(4 * tail * (1 - tail));
  let quotient: f32;
  if (w < 5) {
    const u = w * 0.4 - 1;
    quotient = 5.0248957e-5;
    quotient = quotient * u + 0.0002956563;
    quotient = quotient * u - 0.0011957826;
    quotient = quotient * u - 0.00060540931;
    quotient = quotient * u + 0.012062076;
    quotient = quotient * u - 0.027704192;
    quotient = quotient * u - 0.036923259;
    quotient = quotient * u + 0.87200677;
    quotient = quotient * u + 2.1233134;
  } else {
    const u = (sqrt<f32>(w) - 3.441824) / 1.205756;
    quotient = -0.00094985764;
    quotient = quotient * u + 0.0027269742;
    quotient = quotient * u - 0.0034459827;
    quotient = quotient * u + 0.0037864672;
    quotient = quotient * u - 0.0056884573;
    quotient = quotient * u + 0.0075428448;
    quotient = quotient * u + 1.7170651;
    quotient = quotient * u + 4.6342254;
  }
  return draw < mirrored ? -x * quotient : x * quotient;
}

// The fitter one, of equals the first; NaN was made the lowest.
function isFitter(a: i32, b: i32): bool {
  const fitnessA = load<f32>(values + (a << 2));
  const fitnessB = load<f32>(values + (b << 2));
  return fitnessA > fitnessB || (fitnessA == fitnessB && a < b);
}

// Rows are padded to whole groups of sixteen genes.
export function evolve(
  population: usize, fitness: usize, ranked: usize, spare: usize, children: usize,
  members: i32, pitch: i32, tournament: i32, elites: i32,
  draws: i32, sigma: f32, lowest: f32, highest: f32, seed: i32, generation: i32,
): void {
  values = fitness;
  for (let member = 0; member < members; member++) store<i32>(ranked + (member << 2), member);
  sort(ranked, spare, members, isFitter);
  const rowBytes = pitch << 2;
  for (let child = 0; child < elites; child++) {
    memory.copy(children + child * rowBytes, population + load<i32>(ranked + (child << 2)) * rowBytes, rowBytes);
  }
  for (let child = elites; child < members; child++) {
    let first = 0;
    let winner = 0;
    for (let draw = 0; draw < 2 * tournament; draw++) {
      if ((draw & 15) == 0) {
        const blocks = i32x4.add(i32x4.splat(draw >> 2), i32x4(0, 1, 2, 3));
        philox(blocks, i32x4.splat(child), i32x4.splat(1), seed, generation);
      }
      const word = load<u32>(words + ((draw & 15) << 2));
      const contestant = <i32>((<u64>word * <u64>members) >> 32);
      if (draw == tournament) first = winner;
      if (draw % tournament == 0 || isFitter(contestant, winner)) winner = contestant;
    }
    breed(
      population + first * rowBytes, population + winner * rowBytes, children + child * rowBytes, child, pitch,
      draws, sigma, lowest, highest, seed, generation,
    );
  }
}

@inline function breed(
  first: usize, second: usize, target: usize, child: i32, pitch: i32,
  draws: i32, sigma: f32, lowest: f32, highest: f32, seed: i32, generation: i32,
): void {
  for (let gene = 0; gene < pitch; gene += 16) {
    const blocks = i32x4.add(i32x4.splat(gene >> 2), i32x4(0, 1, 2, 3));
    philox(blocks, i32x4.splat(child), i32x4.splat(0), seed, generation);
    for (let i = 0; i < 64; i += 16) {
      const four = v128.load(words + i);
      const isSecond = i32x4.neg(v128.and(four, i32x4.splat(1)));
      const at = (gene << 2) + i;
      v128.store(target + at, v128.bitselect(v128.load(second + at), v128.load(first + at), isSecond));
      const draw = i32x4.shr_u(four, 1);
      let mutates = i32x4.bitmask(i32x4.lt_u(draw, i32x4.splat(draws)));
      while (mutates != 0) {
        const lane = ctz(mutates);
        mutates &= mutates - 1;
        const place = target + at + (lane << 2);
        const step = sigma * normal(load<u32>(words + i + (lane << 2)) >> 1, draws);
        store<f32>(place, min<f32>(highest, max<f32>(lowest, load<f32>(place) + step)));
      }
    }
  }
}

/* Fronts */

function isLater(a: i32, b: i32): bool {
  for (let i = 0; i < width; i++) {
    const left = load<f32>(values + ((a * width + i) << 2));
    const right = load<f32>(values + ((b * width + i) << 2));
    if (left != right) return left > right;
  }
  return a < b;
}

@inline function dominates(a: i32, b: i32): bool {
  let isBetter = false;
  for (let i = 0; i < width; i++) {
    const ours = load<f32>(values + ((a * width + i) << 2));
    const theirs = load<f32>(values + ((b * width + i) << 2));
    if (ours < theirs) return false;
    isBetter = isBetter || ours > theirs;
  }
  return isBetter;
}

// ENS with binary search, as the typed arrays do it; all scratch has room for `members`.
export function rankFronts(
  objectives: usize, sorted: usize, spare: usize, last: usize, previous: usize, rank: usize,
  populations: i32, members: i32, objectiveCount: i32,
): void {
  values = objectives;
  width = objectiveCount;
  for (let first = 0; first < populations * members; first += members) {
    for (let i = 0; i < members; i++) store<i32>(sorted + (i << 2), first + i);
    sort(sorted, spare, members, isLater);
    let fronts = 0;
    for (let place = 0; place < members; place++) {
      const member = load<i32>(sorted + (place << 2));
      let low = 0;
      let high = fronts;
      while (low < high) {
        const middle = (low + high) >> 1;
        let isDominated = false;
        for (let other = load<i32>(last + (middle << 2)); other >= 0;) {
          isDominated = dominates(other, member);
          if (isDominated || width <= 2) break;
          other = load<i32>(previous + ((other - first) << 2));
        }
        if (isDominated) low = middle + 1;
        else high = middle;
      }
      store<i32>(previous + ((member - first) << 2), low == fronts ? -1 : load<i32>(last + (low << 2)));
      store<i32>(last + (low << 2), member);
      store<i32>(rank + (member << 2), low);
      fronts = max(fronts, low + 1);
    }
  }
}

function isBelow(a: i32, b: i32): bool {
  const rankA = load<i32>(ranks + (a << 2));
  const rankB = load<i32>(ranks + (b << 2));
  if (rankA != rankB) return rankA < rankB;
  const left = load<f32>(values + ((a * width + column) << 2));
  const right = load<f32>(values + ((b * width + column) << 2));
  return left < right || (left == right && a < b);
}

@inline function valueAt(sorted: usize, place: i32): f32 {
  return load<f32>(values + ((load<i32>(sorted + (place << 2)) * width + column) << 2));
}

function addFront(sorted: usize, distance: usize, start: i32, end: i32): void {
  store<f32>(distance + (load<i32>(sorted + (start << 2)) << 2), f32.MAX_VALUE);
  store<f32>(distance + (load<i32>(sorted + ((end - 1) << 2)) << 2), f32.MAX_VALUE);
  const range = valueAt(sorted, end - 1) - valueAt(sorted, start);
  if (range == 0) return;
  for (let place = start + 1; place < end - 1; place++) {
    const at = distance + (load<i32>(sorted + (place << 2)) << 2);
    const known = load<f32>(at);
    if (known == f32.MAX_VALUE) continue;
    store<f32>(at, known + (valueAt(sorted, place + 1) - valueAt(sorted, place - 1)) / range);
  }
}

export function measureCrowding(
  objectives: usize, rank: usize, sorted: usize, spare: usize, distance: usize,
  populations: i32, members: i32, objectiveCount: i32,
): void {
  values = objectives;
  ranks = rank;
  width = objectiveCount;
  memory.fill(distance, 0, (populations * members) << 2);
  for (let first = 0; first < populations * members; first += members) {
    for (column = 0; column < width; column++) {
      for (let i = 0; i < members; i++) store<i32>(sorted + (i << 2), first + i);
      sort(sorted, spare, members, isBelow);
      let start = 0;
      for (let end = 1; end <= members; end++) {
        const isSame =
          end < members &&
          load<i32>(ranks + (load<i32>(sorted + (end << 2)) << 2)) ==
            load<i32>(ranks + (load<i32>(sorted + (start << 2)) << 2));
        if (isSame) continue;
        addFront(sorted, distance, start, end);
        start = end;
      }
    }
  }
}

/* Diversity */

// Rows are padded to whole groups of sixteen genes.
export function measureDiversity(population: usize, members: i32, pitch: i32): f64 {
  const rowBytes = pitch << 2;
  let total: f64 = 0;
  for (let a = 1; a < members; a++) {
    for (let b = 0; b < a; b++) {
      let left = population + a * rowBytes;
      let right = population + b * rowBytes;
      let even = f32x4.splat(0);
      let odd = f32x4.splat(0);
      for (const end = left + rowBytes; left < end; left += 32, right += 32) {
        const gap0 = f32x4.sub(v128.load(left), v128.load(right));
        const gap1 = f32x4.sub(v128.load(left, 16), v128.load(right, 16));
        even = f32x4.add(even, f32x4.mul(gap0, gap0));
        odd = f32x4.add(odd, f32x4.mul(gap1, gap1));
      }
      even = f32x4.add(even, odd);
      const squares =
        f32x4.extract_lane(even, 0) + f32x4.extract_lane(even, 1) + f32x4.extract_lane(even, 2) + f32x4.extract_lane(even, 3);
      total += sqrt<f32>(squares);
    }
  }
  return total;
}
