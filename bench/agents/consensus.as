// Consensus on one thread with SIMD where it helps; pointers are bytes into the memory, numbers 32 bits wide.

export function allocate(sizeBytes: usize): usize {
  return heap.alloc(sizeBytes);
}

@inline function sum(lanes: v128): i32 {
  return (
    i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1) + i32x4.extract_lane(lanes, 2) + i32x4.extract_lane(lanes, 3)
  );
}

// For few options: votes that do not count become -1, and then four options at a time are compared with four votes at
// a time. `masked` has room for the voters, up to a whole word of the electorate.
export function tallyVotes(
  votes: usize, electorate: usize, percent: usize, masked: usize, tally: usize, quorum: usize,
  ballots: i32, voters: i32, options: i32,
): void {
  const words = (voters + 31) >> 5;
  const bits = i32x4(1, 2, 4, 8);
  for (let ballot = 0; ballot < ballots; ballot++) {
    const row = votes + ((ballot * voters) << 2);
    let eligible = 0;
    for (let index = 0; index < words; index++) {
      const left = voters - (index << 5);
      let word = load<u32>(electorate + ((ballot * words + index) << 2));
      if (left < 32) word &= (1 << left) - 1;
      eligible += popcnt(word);
      for (let i = index << 5; i < (index + 1) << 5; i += 4, word >>= 4) {
        const counts = i32x4.eq(v128.and(i32x4.splat(word), bits), bits);
        v128.store(masked + (i << 2), v128.or(v128.load(row + (i << 2)), v128.not(counts)));
      }
    }
    let counted = 0;
    const end = masked + (words << 7);
    for (let option = 0; option < options; option += 4) {
      let count0 = i32x4.splat(0);
      let count1 = i32x4.splat(0);
      let count2 = i32x4.splat(0);
      let count3 = i32x4.splat(0);
      for (let at = masked; at < end; at += 16) {
        const four = v128.load(at);
        count0 = i32x4.sub(count0, i32x4.eq(four, i32x4.splat(option)));
        count1 = i32x4.sub(count1, i32x4.eq(four, i32x4.splat(option + 1)));
        count2 = i32x4.sub(count2, i32x4.eq(four, i32x4.splat(option + 2)));
        count3 = i32x4.sub(count3, i32x4.eq(four, i32x4.splat(option + 3)));
      }
      const sink = tally + ((ballot * options + option) << 2);
      counted += store4(sink, min(4, options - option), sum(count0), sum(count1), sum(count2), sum(count3));
    }
    const enough = counted * 100 >= load<i32>(percent + (ballot << 2)) * eligible;
    store<i32>(quorum + (ballot << 2), enough ? 1 : 0);
  }
}

// Stores the first of four numbers and gives their sum.
@inline function store4(at: usize, length: i32, a: i32, b: i32, c: i32, d: i32): i32 {
  let total = a;
  store<i32>(at, a);
  if (length > 1) { store<i32>(at, b, 4); total += b; }
  if (length > 2) { store<i32>(at, c, 8); total += c; }
  if (length > 3) { store<i32>(at, d, 12); total += d; }
  return total;
}

export function findLeaders(scores: usize, leader: usize, elections: i32, candidates: i32): void {
  for (let election = 0; election < elections; election++) {
    const row = scores + ((election * candidates) << 2);
    let best = 0;
    let bestScore = load<i32>(row);
    let next = 1;
    if (candidates >= 4) {
      let highest = v128.load(row);
      let indexes = i32x4(0, 1, 2, 3);
      let current = indexes;
      for (next = 4; next + 4 <= candidates; next += 4) {
        const four = v128.load(row + (next << 2));
        const higher = i32x4.gt_s(four, highest);
        current = i32x4.add(current, i32x4.splat(4));
        highest = v128.bitselect(four, highest, higher);
        indexes = v128.bitselect(current, indexes, higher);
      }
      best = i32x4.extract_lane(indexes, 0);
      bestScore = i32x4.extract_lane(highest, 0);
      for (let lane = 1; lane < 4; lane++) {
        highest = i8x16.shuffle(highest, highest, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3);
        indexes = i8x16.shuffle(indexes, indexes, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3);
        const score = i32x4.extract_lane(highest, 0);
        const index = i32x4.extract_lane(indexes, 0);
        if (score > bestScore || (score == bestScore && index < best)) {
          best = index;
          bestScore = score;
        }
      }
    }
    for (; next < candidates; next++) {
      const score = load<i32>(row + (next << 2));
      if (score > bestScore) {
        best = next;
        bestScore = score;
      }
    }
    store<i32>(leader + (election << 2), best);
  }
}

// Every proposal against the first of its round and of its proposer, whose places are noted in `first`.
export function findConflicts(
  proposals: usize, first: usize, roundConflict: usize, proposerConflict: usize,
  sessions: i32, length: i32, rounds: i32, proposers: i32,
): void {
  memory.fill(roundConflict, 0, (sessions * rounds) << 2);
  memory.fill(proposerConflict, 0, (sessions * proposers) << 2);
  const firstOfProposer = first + (rounds << 2);
  for (let session = 0; session < sessions; session++) {
    memory.fill(first, 0, (rounds + proposers) << 2);
    const end = proposals + (((session + 1) * length) << 4);
    for (let at = proposals + ((session * length) << 4); at < end; at += 16) {
      const round = load<u32>(at);
      if (round < <u32>rounds) {
        const known = load<usize>(first + (round << 2));
        if (known == 0) store<usize>(first + (round << 2), at);
        else if (load<i32>(known, 4) != load<i32>(at, 4)) store<i32>(roundConflict + ((session * rounds + round) << 2), 1);
      }
      const proposer = load<u32>(at, 8);
      if (proposer < <u32>proposers) {
        const known = load<usize>(firstOfProposer + (proposer << 2));
        if (known == 0) store<usize>(firstOfProposer + (proposer << 2), at);
        else if (load<i32>(known, 12) != load<i32>(at, 12)) store<i32>(proposerConflict + ((session * proposers + proposer) << 2), 1);
      }
    }
  }
}
