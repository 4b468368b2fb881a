// Ends of the operators that the catalogue's tiled products compute in dispatches of their own. They read the first
// operator of the table that network.wgsl reads.
//
// The files before have the kinds and functions of a network; those behind, the tiling.

// The arena once more, in vectors of four.
@group(0) @binding(3) var<storage, read_write> arena4: array<vec4<f32>>;

// Which kind it is: DENSE, PRODUCT or CONVOLVE.
override tiled_kind: u32 = DENSE;
// Whether rows of the output and of what is added to them consist of whole vectors of four.
override is_aligned: bool = false;
// Which type the weights have: 0 or FLOAT16, INT8 or INT4; and whether blocks of inputs have scales of their own.
override tiled_weights: u32 = 0;
override has_block_scales: bool = false;

fn element(at: i32) -> f32 { return arena4[at >> 2u][at & 3]; }

// Which row of the batch a product belongs to, and where its matrices begin in that row's arena.
struct Matrix { base: i32, a: i32, b: i32, out: i32 }

fn find_matrix(op: Op, index: i32) -> Matrix {
  if (tiled_kind != PRODUCT) { return Matrix(index * op.arena, 0, 0, 0); }
  let count = op.d0 * op.d1 * op.d2;
  let corner = find_corner(op, index % count);
  return Matrix(index / count * op.arena, corner.a, corner.b, corner.out);
}

fn count_tiled_rows(op: Op) -> i32 {
  if (tiled_kind == PRODUCT) { return op.d3; }
  if (tiled_kind == CONVOLVE) { return op.outHeight * op.outWidth; }
  return op.rows;
}

fn count_tiled_columns(op: Op) -> i32 {
  return select(op.filters, op.d4, tiled_kind == PRODUCT);
}

// A row of the output: its batch row's arena, its first element from the output's start, and the way to the next.
struct OutRow { base: i32, first: i32, step: i32 }

// Rows are counted through all products.
fn find_row(op: Op, index: i32) -> OutRow {
  let rows = count_tiled_rows(op);
  let matrix = find_matrix(op, index / rows);
  let row = index % rows;
  // Pictures have a plane for each filter.
  if (tiled_kind == CONVOLVE) { return OutRow(matrix.base, row, rows); }
  return OutRow(matrix.base, matrix.out + row * select(op.filters, op.o3, tiled_kind == PRODUCT), 1);
}

fn put_four(op: Op, row: OutRow, column: i32, sums: vec4<f32>) {
  let columns = column + vec4<i32>(0, 1, 2, 3);
  let is_there = columns < vec4<i32>(count_tiled_columns(op));
  let at = row.first + row.step * columns;
  let output = row.base + op.output + at;
  var values = sums;
  if (!has_block_scales && (tiled_weights == INT8 || tiled_weights == INT4)) { values *= scales_of(op, 0, column / 4); }
  if (op.bias >= 0) { values += constant4(op.bias + column); }
  if (has_summands && op.other >= 0) {
    let other = row.base + op.other + select(vec4<i32>(), at, is_there);
    if (is_aligned) { values += arena4[other.x >> 2u]; }
    else { values += vec4<f32>(element(other.x), element(other.y), element(other.z), element(other.w)); }
  }
  values = quantise(op, activate(op, values));
  if (is_aligned) {
    arena4[output.x >> 2u] = values;
    return;
  }
  if (is_there.x) { arena4[output.x >> 2u][output.x & 3] = values.x; }
  if (is_there.y) { arena4[output.y >> 2u][output.y & 3] = values.y; }
  if (is_there.z) { arena4[output.z >> 2u][output.z & 3] = values.z; }
  if (is_there.w) { arena4[output.w >> 2u][output.w & 3] = values.w; }
}

fn put_one(op: Op, row: OutRow, column: i32, sum: f32) {
  let at = row.first + row.step * column;
  var value = sum;
  if (op.bias >= 0) { value += constant(op.bias + column); }
  if (has_summands && op.other >= 0) { value += element(row.base + op.other + at); }
  let output = row.base + op.output + at;
  arena4[output >> 2u][output & 3] = quantise(op, activate(op, vec4<f32>(value))).x;
}
