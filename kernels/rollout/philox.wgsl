// Philox4x32-10 (Salmon et al., SC 2011): the twin of src/stats/philox.ts and draws.ts.

/// Where the next block of words is found.
struct Random {
  key: vec2u,
  member: u32,
  episode: u32,
  step: u32,
  draw: u32,
}

/// The upper 32 bits of a product: WGSL has no integers of 64.
fn multiply_high(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let cross = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (cross & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (cross >> 16u) + (other >> 16u);
}

fn philox(start: vec4u, key_start: vec2u) -> vec4u {
  var counter = start;
  var key = key_start;
  for (var round = 0u; round < 10u; round++) {
    let high0 = multiply_high(0xd2511f53u, counter.x);
    let high1 = multiply_high(0xcd9e8d57u, counter.z);
    let low0 = 0xd2511f53u * counter.x;
    let low1 = 0xcd9e8d57u * counter.z;
    counter = vec4u(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += vec2u(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}

/// The next block of four words.
fn draw_words(random: ptr<function, Random>) -> vec4u {
  let counter = vec4u((*random).member, (*random).episode, (*random).step, (*random).draw);
  (*random).draw += 1u;
  return philox(counter, (*random).key);
}
