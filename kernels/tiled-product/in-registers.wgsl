// Products of matrices in registers, by the blocks of blocks.wgsl, without workgroup memory. The lanes of a group are
// neighbours along the columns.
//
// The files before have the loop along K, and `store(at, column, value)`.

override lanesN: u32 = 8;
override lanesM: u32 = 1;

// What an invocation computes: rows from `row`, and blocks of columns at `left` and `right`.
struct Tile { row: u32, left: u32, right: u32 }

fn findTile(group: vec3<u32>, lane: vec3<u32>, rows: u32) -> Tile {
  let left = group.x * lanesN * 2u + lane.x;
  return Tile((group.y * lanesM + lane.y) * rows, left, left + lanesN);
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
