// Where ../tiled-product/dense-in-registers.wgsl and dense-in-slices.wgsl find the matrices of a dense operator or of a
// product of activations.
// Inner sizes and offsets are multiples of four.

fn loadA(at: u32) -> vec4<f32> { return arena4[at]; }

fn loadB(at: u32) -> vec4<f32> {
  if (tiled_kind == DENSE) { return weights4[at]; }
  return arena4[at];
}

fn findOperands(product: u32) -> Operands {
  let op = ops[0];
  let matrix = find_matrix(op, i32(product));
  let columns = u32(count_tiled_columns(op) + 3) / 4u;
  let rows = u32(count_tiled_rows(op));
  let a = u32(matrix.base + op.input + matrix.a) / 4u;
  if (tiled_kind == DENSE) {
    let depth = u32(op.channels) / 4u;
    return Operands(rows, columns, depth, a, depth, u32(op.weights) / 4u, columns);
  }
  let b = u32(matrix.base + op.weights + matrix.b) / 4u;
  return Operands(rows, columns, u32(op.d5) / 4u, a, u32(op.a3) / 4u, b, u32(op.b5) / 4u);
}

fn store(at: u32, column: u32, value: vec4<f32>) {
  let op = ops[0];
  put_four(op, find_row(op, i32(at) / ((count_tiled_columns(op) + 3) / 4)), 4 * i32(column), value);
}
