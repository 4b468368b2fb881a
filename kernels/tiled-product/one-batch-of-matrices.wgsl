// Where dense-in-registers.wgsl finds matrices that fill their buffers, one product after the other.
//
// The kernel's own file has `a` of m × ⌈k⌉₄ and `b` of ⌈k⌉₄ × ⌈n⌉₄, in vectors of four, and their sizes in `shape`.

fn loadA(at: u32) -> vec4<f32> { return a[at]; }
fn loadB(at: u32) -> vec4<f32> { return b[at]; }

fn findOperands(product: u32) -> Operands {
  let depth = (shape.k + 3u) / 4u;
  let columns = (shape.n + 3u) / 4u;
  return Operands(shape.m, columns, depth, product * shape.m * depth, depth, product * 4u * depth * columns, columns);
}
