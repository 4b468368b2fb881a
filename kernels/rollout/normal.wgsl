// Standard normal numbers of random words by Box and Muller (1958), two numbers of two words: the twin of `toNormals` in
// src/stats/draws.ts.

/// No radius is above 5.77: words give 24 bits. WGSL lets `sqrt` be a few units in the last place off, and nothing here
/// is further.
fn to_normal(words: vec4u) -> vec4f {
  let bits = words >> vec4u(8u);
  // In (0, 1]: a logarithm of 0 there is none.
  let radii = vec2f(
    sqrt(-2f * natural_logarithm(f32(bits.x + 1u) * 0x1p-24f)),
    sqrt(-2f * natural_logarithm(f32(bits.z + 1u) * 0x1p-24f)),
  );
  let first = sine_cosine_of_turn(f32(bits.y) * 0x1p-24f);
  let second = sine_cosine_of_turn(f32(bits.w) * 0x1p-24f);
  return vec4f(radii.x * first.yx, radii.y * second.yx);
}

fn draw_normal(random: ptr<function, Random>) -> vec4f {
  return to_normal(draw_words(random));
}
