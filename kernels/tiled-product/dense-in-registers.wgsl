// C = A·B for dense matrices, one after the other in a batch: eight rows and eight columns an invocation.
//
// The kernel's own file has `a` of m × ⌈k⌉₄ and `b` of ⌈k⌉₄ × ⌈n⌉₄, in vectors of four, and `store(at, column, value)`.

fn readA(at: vec4<u32>) -> Block { return Block(a[at.x], a[at.y], a[at.z], a[at.w]); }

fn readB(at: u32, columns: u32) -> Block {
  return Block(b[at], b[at + columns], b[at + 2u * columns], b[at + 3u * columns]);
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = (shape.k + 3u) / 4u;
  let columns = (shape.n + 3u) / 4u;
  let product = Product(shape.m, columns, group.z);
  let tile = findTile(group, lane, 8u);

  // An invocation beyond the edge computes with the last row or column and stores nothing.
  let last = vec4<u32>(shape.m - 1u);
  let upper = (group.z * shape.m + min(tile.row + vec4<u32>(0u, 1u, 2u, 3u), last)) * depth;
  let lower = (group.z * shape.m + min(tile.row + vec4<u32>(4u, 5u, 6u, 7u), last)) * depth;
  let start = group.z * 4u * depth * columns;
  let left = start + min(tile.left, columns - 1u);
  let right = start + min(tile.right, columns - 1u);

  var upperLeft = Block(); var upperRight = Block();
  var lowerLeft = Block(); var lowerRight = Block();
  for (var k = 0u; k < depth; k++) {
    let aUpper = readA(upper + k);
    let aLower = readA(lower + k);
    let bLeft = readB(left + 4u * k * columns, columns);
    upperLeft = addProduct(upperLeft, aUpper, bLeft);
    lowerLeft = addProduct(lowerLeft, aLower, bLeft);
    let bRight = readB(right + 4u * k * columns, columns);
    upperRight = addProduct(upperRight, aUpper, bRight);
    lowerRight = addProduct(lowerRight, aLower, bRight);
  }
  storeBlock(product, tile.row, tile.left, upperLeft);
  storeBlock(product, tile.row, tile.right, upperRight);
  storeBlock(product, tile.row + 4u, tile.left, lowerLeft);
  storeBlock(product, tile.row + 4u, tile.right, lowerRight);
}
