// Where in-workgroup-memory.wgsl finds dense matrices, one after the other in a batch.
//
// The kernel's own file has `a` of m × ⌈k⌉₄ and `b` of ⌈k⌉₄ × ⌈n⌉₄, and `store(at, column, value)`.

alias Origin = u32;

fn countRows() -> u32 { return shape.m; }
fn countColumns() -> u32 { return shape.n; }
fn countPitch() -> u32 { return (shape.n + 3u) / 4u * 4u; }
fn countDepth() -> u32 { return shape.k; }

fn countPadded() -> u32 { return (shape.k + 3u) / 4u * 4u; }
fn findOrigin(row: u32, product: u32) -> Origin { return (product * shape.m + row) * countPadded(); }

fn readA(origin: Origin, row: u32, k: u32) -> f32 {
  return select(0.0, a[origin + k], row < shape.m && k < shape.k);
}
fn readB(k: u32, column: u32, product: u32) -> f32 {
  let at = (product * countPadded() + k) * countPitch() + column;
  return select(0.0, b[at], column < shape.n && k < shape.k);
}
