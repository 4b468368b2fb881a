// Where in-slices.wgsl finds dense matrices. The files before have `findOperands(product)`, `loadA(at)` and `loadB(at)`.

struct Source { a: u32, b: u32, pitchB: u32, depth: u32 }

fn findProduct(index: u32) -> Product {
  let operands = findOperands(index);
  return Product(operands.rows, operands.columns, index);
}

fn countDepth() -> u32 { return findOperands(0u).depth; }

fn findSource(product: Product, row: u32, column: u32) -> Source {
  let operands = findOperands(product.index);
  return Source(operands.a + row * operands.pitchA, operands.b + column, operands.pitchB, operands.depth);
}

fn readA(source: Source, k: u32) -> vec4<f32> {
  if (k >= source.depth) { return vec4<f32>(); }
  return loadA(source.a + k);
}

fn readB(source: Source, k: u32) -> vec4<f32> {
  if (k >= 4u * source.depth) { return vec4<f32>(); }
  return loadB(source.b + k * source.pitchB);
}
