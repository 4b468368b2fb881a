// Where ../tiled-product/in-workgroup-memory.wgsl finds the matrices of a dense operator or of a product of activations.

alias Origin = i32;

fn countRows() -> u32 { return u32(count_tiled_rows(ops[0])); }
fn countColumns() -> u32 { return u32(count_tiled_columns(ops[0])); }
fn countPitch() -> u32 { return countColumns(); }
fn countDepth() -> u32 { return u32(select(ops[0].channels, ops[0].d5, tiled_kind == PRODUCT)); }

fn findOrigin(row: u32, product: u32) -> Origin {
  let op = ops[0];
  let matrix = find_matrix(op, i32(product));
  return matrix.base + op.input + matrix.a + i32(row) * select(op.channels, op.a3, tiled_kind == PRODUCT);
}

fn readA(origin: Origin, row: u32, k: u32) -> f32 {
  let is_there = row < countRows() && k < countDepth();
  return select(0.0, element(origin + select(0, i32(k), is_there)), is_there);
}

fn readB(k: u32, column: u32, product: u32) -> f32 {
  let op = ops[0];
  if (k >= countDepth() || column >= countColumns()) { return 0.0; }
  if (tiled_kind == DENSE) { return constant(op.weights + i32(k) * ((op.filters + 3) / 4 * 4) + i32(column)); }
  let matrix = find_matrix(op, i32(product));
  return element(matrix.base + op.weights + matrix.b + i32(k) * op.b5 + i32(column));
}

fn store(at: u32, column: u32, value: f32) {
  let op = ops[0];
  put_one(op, find_row(op, i32(at) / count_tiled_columns(op)), i32(column), value);
}
