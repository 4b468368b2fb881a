// Where ../tiled-product/in-slices.wgsl finds a dense operator in the arithmetic of its weights: rows that
// round-rows.wgsl rounded, and weights of 16, 8 or 4 bits. Each row has its words, eight floats of 16 bits or sixteen
// whole numbers of 8 bits to a vector, and then a vector with its step.

struct Source { a: i32, column: i32 }

fn countDepth() -> u32 {
  let each = select(16, 8, tiled_weights == FLOAT16);
  return u32((ops[0].channels + each - 1) / each);
}

fn find_rounded(op: Op, product: i32, row: i32) -> i32 {
  return (product * op.arena + op.d0) / 4 + row * (i32(countDepth()) + 1);
}

fn findProduct(index: u32) -> Product {
  let op = ops[0];
  return Product(u32(op.rows), u32(op.filters + 3) / 4u, index);
}

fn findSource(product: Product, row: u32, column: u32) -> Source {
  return Source(find_rounded(ops[0], i32(product.index), i32(row)), i32(column));
}

// Reading keeps the bits, whatever number they would be as a float.
fn readA(source: Source, k: u32) -> vec4<u32> {
  if (k >= countDepth()) { return vec4<u32>(); }
  return bitcast<vec4<u32>>(arena4[source.a + i32(k)]);
}

// Weights of four filters for one channel, a byte each.
fn whole_four(op: Op, channel: i32, column: i32) -> u32 {
  if (channel >= op.channels) { return 0u; }
  let index = channel * ((op.filters + 3) / 4) + column;
  if (tiled_weights == INT8) { return words[op.weights + index]; }
  let half = words[op.weights + (index >> 1u)] >> (16u * u32(index & 1));
  let apart = (half & 0xfu) | ((half & 0xf0u) << 4u) | ((half & 0xf00u) << 8u) | ((half & 0xf000u) << 12u);
  // From 4 bits with a sign to 8, each byte by itself: 8 more, and 8 less without a carry to its neighbour.
  return (((apart ^ 0x08080808u) | 0x80808080u) - 0x08080808u) ^ 0x80808080u;
}

// Weights of four filters for one channel, in floats of 16 bits.
fn four_halves_of(op: Op, channel: i32, column: i32) -> vec2<u32> {
  if (channel >= op.channels) { return vec2<u32>(); }
  let at = op.weights + 2 * (channel * ((op.filters + 3) / 4) + column);
  return vec2<u32>(words[at], words[at + 1]);
}

// Four filters for two channels in floats of 16 bits, as they lie in the file; or for four channels in whole numbers: a
// word for each filter, where the file has one for each channel.
fn readB(source: Source, k: u32) -> vec4<u32> {
  if (tiled_weights == FLOAT16) {
    let first = 2 * i32(k);
    return vec4<u32>(
      four_halves_of(ops[0], first, source.column),
      four_halves_of(ops[0], first + 1, source.column),
    );
  }
  let op = ops[0];
  let channel = 4 * i32(k);
  let w0 = whole_four(op, channel, source.column);
  let w1 = whole_four(op, channel + 1, source.column);
  let w2 = whole_four(op, channel + 2, source.column);
  let w3 = whole_four(op, channel + 3, source.column);
  const EVEN = 0x00ff00ffu;
  let even01 = (w0 & EVEN) | ((w1 & EVEN) << 8u);
  let odd01 = ((w0 >> 8u) & EVEN) | (w1 & ~EVEN);
  let even23 = (w2 & EVEN) | ((w3 & EVEN) << 8u);
  let odd23 = ((w2 >> 8u) & EVEN) | (w3 & ~EVEN);
  return vec4<u32>(
    (even01 & 0xffffu) | (even23 << 16u),
    (odd01 & 0xffffu) | (odd23 << 16u),
    (even01 >> 16u) | (even23 & 0xffff0000u),
    (odd01 >> 16u) | (odd23 & 0xffff0000u),
  );
}

// Beyond the depth are products of zeros, whose scale has to be a number. One scale for a whole filter is applied with
// the sum, in `put_four`.
fn findScale(k: u32, column: u32) -> vec4<f32> {
  if (!has_block_scales) { return vec4<f32>(1.0); }
  return scales_of(ops[0], 16 * i32(min(k, countDepth() - 1u)), i32(column));
}

fn store(at: u32, column: u32, value: vec4<f32>) {
  let op = ops[0];
  let row = i32(at) / ((op.filters + 3) / 4);
  let step = arena4[find_rounded(op, row / op.rows, row % op.rows) + i32(countDepth())].x;
  put_four(op, find_row(op, row), 4 * i32(column), step * value);
}
