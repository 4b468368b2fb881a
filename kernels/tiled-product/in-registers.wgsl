// Products of matrices in registers, by blocks of four rows and four columns, without workgroup memory. The lanes of a
// group are neighbours along the columns. The rows of a block are named, since an indexed array of them leaves the registers
// on software devices.
//
// The files before have the loop along K, and `store(at, column, value)`.

override lanesN: u32 = 8;
override lanesM: u32 = 1;

struct Block { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32> }

fn addRow(sum: vec4<f32>, a: vec4<f32>, b: Block) -> vec4<f32> {
  return fma(a.wwww, b.x3, fma(a.zzzz, b.x2, fma(a.yyyy, b.x1, fma(a.xxxx, b.x0, sum))));
}

// Adds A·B of two blocks.
fn addProduct(sum: Block, a: Block, b: Block) -> Block {
  return Block(addRow(sum.x0, a.x0, b), addRow(sum.x1, a.x1, b), addRow(sum.x2, a.x2, b), addRow(sum.x3, a.x3, b));
}

// What an invocation computes: rows from `row`, and blocks of columns at `left` and `right`.
struct Tile { row: u32, left: u32, right: u32 }

fn findTile(group: vec3<u32>, lane: vec3<u32>, rows: u32) -> Tile {
  let left = group.x * lanesN * 2u + lane.x;
  return Tile((group.y * lanesM + lane.y) * rows, left, left + lanesN);
}

// One of several products: its rows, and blocks of its columns.
struct Product { rows: u32, columns: u32, index: u32 }

fn storeRow(product: Product, row: u32, column: u32, value: vec4<f32>) {
  if (row < product.rows && column < product.columns) {
    store((product.index * product.rows + row) * product.columns + column, column, value);
  }
}

fn storeBlock(product: Product, row: u32, column: u32, block: Block) {
  storeRow(product, row, column, block.x0);
  storeRow(product, row + 1u, column, block.x1);
  storeRow(product, row + 2u, column, block.x2);
  storeRow(product, row + 3u, column, block.x3);
}

fn shift(block: Block, next: vec4<f32>) -> Block { return Block(block.x1, block.x2, block.x3, next); }

// Stores what an invocation computed: eight rows at the left, then at the right. In one loop, since compilers copy
// `store` to each of its calls.
fn storeTile(product: Product, tile: Tile, upperLeft: Block, upperRight: Block, lowerLeft: Block, lowerRight: Block) {
  var first = upperLeft; var second = lowerLeft;
  var third = upperRight; var fourth = lowerRight;
  for (var at = 0u; at < 16u; at++) {
    storeRow(product, tile.row + at % 8u, select(tile.left, tile.right, at >= 8u), first.x0);
    first = shift(first, second.x0);
    second = shift(second, third.x0);
    third = shift(third, fourth.x0);
    fourth = shift(fourth, vec4<f32>());
  }
}
