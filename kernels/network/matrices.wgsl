// Where ../tiled-product/dense-in-registers.wgsl and dense-in-slices.wgsl find the matrices of a dense operator or of a
// product of activations.
// Inner sizes and offsets are multiples of four.

fn loadA(at: u32) -> vec4<f32> { return arena4[at]; }

fn loadB(at: u32) -> vec4<f32> {
  if (tiled_kind != DENSE) { return arena4[at]; }
  if (tiled_weights == FLOAT16) { return four_halves(0, i32(at)); }
  if (tiled_weights == INT8) { return scaled_by_block(at, 1u, four_bytes(0, i32(at))); }
  if (tiled_weights == INT4) { return scaled_by_block(at, 2u, four_nibbles(0, i32(at))); }
  return weights4[at];
}

// Applies the scale of a block to four weights; a word has `each` such fours. A scale of a whole filter follows in
// `put_four`, with the sum.
fn scaled_by_block(at: u32, each: u32, levels: vec4<f32>) -> vec4<f32> {
  if (!has_block_scales) { return levels; }
  let op = ops[0];
  let index = at - u32(op.weights) * each;
  let columns = u32(op.filters + 3) / 4u;
  return levels * scales_of(op, i32(index / columns), i32(index % columns));
}

fn findOperands(product: u32) -> Operands {
  let op = ops[0];
  let matrix = find_matrix(op, i32(product));
  let columns = u32(count_tiled_columns(op) + 3) / 4u;
  let rows = u32(count_tiled_rows(op));
  let a = u32(matrix.base + op.input + matrix.a) / 4u;
  if (tiled_kind == DENSE) {
    let depth = u32(op.channels) / 4u;
    // In fours of weights, which are as many words, or less.
    var b = u32(op.weights) / 4u;
    if (tiled_weights == FLOAT16) { b = u32(op.weights) / 2u; }
    if (tiled_weights == INT8) { b = u32(op.weights); }
    if (tiled_weights == INT4) { b = u32(op.weights) * 2u; }
    return Operands(rows, columns, depth, a, depth, b, columns);
  }
  let b = u32(matrix.base + op.weights + matrix.b) / 4u;
  return Operands(rows, columns, u32(op.d5) / 4u, a, u32(op.a3) / 4u, b, u32(op.b5) / 4u);
}

fn store(at: u32, column: u32, value: vec4<f32>) {
  let op = ops[0];
  put_four(op, find_row(op, i32(at) / ((count_tiled_columns(op) + 3) / 4)), 4 * i32(column), value);
}
