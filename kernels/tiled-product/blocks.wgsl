// Blocks of four rows and four columns, which the products of matrices in this folder are made of. The rows of a block are
// named, since an indexed array of them leaves the registers on software devices.
//
// The files before have `store(at, column, value)`.

struct Block { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32> }

fn addRow(sum: vec4<f32>, a: vec4<f32>, b: Block) -> vec4<f32> {
  return fma(a.wwww, b.x3, fma(a.zzzz, b.x2, fma(a.yyyy, b.x1, fma(a.xxxx, b.x0, sum))));
}

// Adds A·B of two blocks.
fn addProduct(sum: Block, a: Block, b: Block) -> Block {
  return Block(addRow(sum.x0, a.x0, b), addRow(sum.x1, a.x1, b), addRow(sum.x2, a.x2, b), addRow(sum.x3, a.x3, b));
}

// One product of dense matrices: its size, and where they begin and how far their rows lie apart. All but `rows` count
// vectors of four.
struct Operands { rows: u32, columns: u32, depth: u32, a: u32, pitchA: u32, b: u32, pitchB: u32 }

// One of several products: its rows, and blocks of its columns.
struct Product { rows: u32, columns: u32, index: u32 }

fn storeRow(product: Product, row: u32, column: u32, value: vec4<f32>) {
  if (row < product.rows && column < product.columns) {
    store((product.index * product.rows + row) * product.columns + column, column, value);
  }
}
