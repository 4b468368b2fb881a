// Numbers of random words; stands behind philox.wgsl or whatever else gives `draw_words`.

/// In [0, 1): the upper 24 bits, which a float holds exactly.
fn to_uniform(words: vec4u) -> vec4f {
  return vec4f(words >> vec4u(8u)) * 0x1p-24f;
}

/// One of so many things, at most 256: the same upper 24 bits, in integers.
fn to_choice(word: u32, count: u32) -> u32 {
  return ((word >> 8u) * count) >> 24u;
}

fn draw_uniform(random: ptr<function, Random>) -> vec4f {
  return to_uniform(draw_words(random));
}
