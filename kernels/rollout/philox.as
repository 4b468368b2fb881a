// Philox4x32-10 (Salmon et al., SC 2011): the twin of philox.wgsl, for one lane at a time.

/** Where the next block of words is found, and its last four words. */
let drawSeed: u32 = 0;
let drawStream: u32 = 0;
let drawMember: u32 = 0;
let drawEpisode: u32 = 0;
let drawStep: u32 = 0;
let drawNumber: u32 = 0;
let word0: u32 = 0;
let word1: u32 = 0;
let word2: u32 = 0;
let word3: u32 = 0;

/** Where recorded words stand, which are drawn instead if there are any: so many blocks for each of so many steps. */
let tape: usize = 0;
let tapeSteps: u32 = 0;
let tapeBlocks: u32 = 0;

/** The next block of four words. */
function drawWords(): void {
  if (tape != 0) {
    const block = tape + 16 * <usize>((drawEpisode * tapeSteps + drawStep - 1) * tapeBlocks + drawNumber++);
    word0 = load<u32>(block);
    word1 = load<u32>(block, 4);
    word2 = load<u32>(block, 8);
    word3 = load<u32>(block, 12);
    return;
  }
  let c0 = drawMember;
  let c1 = drawEpisode;
  let c2 = drawStep;
  let c3 = drawNumber++;
  let k0 = drawSeed;
  let k1 = drawStream;
  for (let round = 0; round < 10; round++) {
    const product0 = <u64>0xd2511f53 * <u64>c0;
    const product1 = <u64>0xcd9e8d57 * <u64>c2;
    c0 = <u32>(product1 >> 32) ^ c1 ^ k0;
    c1 = <u32>product1;
    c2 = <u32>(product0 >> 32) ^ c3 ^ k1;
    c3 = <u32>product0;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  word0 = c0;
  word1 = c1;
  word2 = c2;
  word3 = c3;
}

/** In [0, 1): the upper 24 bits, which a float holds exactly. */
// @ts-ignore: decorator
@inline
function toUniform(word: u32): f32 {
  return <f32>(word >> 8) * <f32>5.9604644775390625e-8;
}

/** One of so many things. */
// @ts-ignore: decorator
@inline
function toChoice(word: u32, count: u32): u32 {
  return ((word >> 8) * count) >> 24;
}
