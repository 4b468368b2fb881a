// Steps of in-slices.wgsl in whole numbers of 8 bits: a vector has sixteen of them along the depth, four in a word. The sums
// of a step are exact; those of all steps are floats, since weights may have a scale for each block of the depth.
//
// The files before have `findScale(k, column)`: the scales of four columns at vector k.

alias Four = vec4<u32>;
struct Fours { x0: Four, x1: Four, x2: Four, x3: Four }

fn dotWord(a: u32, b: Four) -> vec4<i32> {
  return vec4<i32>(dot4I8Packed(a, b.x), dot4I8Packed(a, b.y), dot4I8Packed(a, b.z), dot4I8Packed(a, b.w));
}

// Sixteen numbers of a row times those of four columns.
fn dotRow(a: Four, b: Fours) -> vec4<f32> {
  return vec4<f32>(dotWord(a.x, b.x0) + dotWord(a.y, b.x1) + dotWord(a.z, b.x2) + dotWord(a.w, b.x3));
}

fn addStep(sum: Block, a: Fours, b: Fours, k: u32, column: u32) -> Block {
  let scale = findScale(k, column);
  return Block(
    fma(dotRow(a.x0, b), scale, sum.x0),
    fma(dotRow(a.x1, b), scale, sum.x1),
    fma(dotRow(a.x2, b), scale, sum.x2),
    fma(dotRow(a.x3, b), scale, sum.x3),
  );
}
