// Steps of in-slices.wgsl in floats of 16 bits: a vector has eight of them along the depth, two in a word. The products
// of a step are added in 16 bits, all steps in 32. Sums of eight products must stay below 65,504.

alias Four = vec4<u32>;
struct Fours { x0: Four, x1: Four, x2: Four, x3: Four }

fn halvesOf(words: vec2<u32>) -> vec4<f16> { return bitcast<vec4<f16>>(words); }

// Eight numbers of a row times those of four columns.
fn dotRow(a: Four, b: Fours) -> vec4<f32> {
  let first = halvesOf(a.xy);
  let second = halvesOf(a.zw);
  let upper = fma(first.wwww, halvesOf(b.x1.zw), fma(first.zzzz, halvesOf(b.x1.xy),
    fma(first.yyyy, halvesOf(b.x0.zw), first.xxxx * halvesOf(b.x0.xy))));
  return vec4<f32>(fma(second.wwww, halvesOf(b.x3.zw), fma(second.zzzz, halvesOf(b.x3.xy),
    fma(second.yyyy, halvesOf(b.x2.zw), fma(second.xxxx, halvesOf(b.x2.xy), upper)))));
}

fn addStep(sum: Block, a: Fours, b: Fours, k: u32, column: u32) -> Block {
  return Block(
    sum.x0 + dotRow(a.x0, b),
    sum.x1 + dotRow(a.x1, b),
    sum.x2 + dotRow(a.x2, b),
    sum.x3 + dotRow(a.x3, b),
  );
}
