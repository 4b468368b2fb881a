// C = A·B for dense matrices, one after the other in a batch: eight rows and eight columns an invocation.
//
// The kernel's own file has `findOperands(product)`, `loadA(at)`, `loadB(at)` and `store(at, column, value)`.

fn readA(at: vec4<u32>) -> Block { return Block(loadA(at.x), loadA(at.y), loadA(at.z), loadA(at.w)); }

fn readB(at: u32, pitch: u32) -> Block {
  return Block(loadB(at), loadB(at + pitch), loadB(at + 2u * pitch), loadB(at + 3u * pitch));
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let operands = findOperands(group.z);
  let pitch = operands.pitchB;
  let product = Product(operands.rows, operands.columns, group.z);
  let tile = findTile(group, lane, 8u);

  // An invocation beyond the edge computes with the last row or column and stores nothing.
  let last = vec4<u32>(operands.rows - 1u);
  let upper = operands.a + min(tile.row + vec4<u32>(0u, 1u, 2u, 3u), last) * operands.pitchA;
  let lower = operands.a + min(tile.row + vec4<u32>(4u, 5u, 6u, 7u), last) * operands.pitchA;
  let left = operands.b + min(tile.left, operands.columns - 1u);
  let right = operands.b + min(tile.right, operands.columns - 1u);

  var upperLeft = Block(); var upperRight = Block();
  var lowerLeft = Block(); var lowerRight = Block();
  for (var k = 0u; k < operands.depth; k++) {
    let aUpper = readA(upper + k);
    let aLower = readA(lower + k);
    let bLeft = readB(left + 4u * k * pitch, pitch);
    upperLeft = addProduct(upperLeft, aUpper, bLeft);
    lowerLeft = addProduct(lowerLeft, aLower, bLeft);
    let bRight = readB(right + 4u * k * pitch, pitch);
    upperRight = addProduct(upperRight, aUpper, bRight);
    lowerRight = addProduct(lowerRight, aLower, bRight);
  }
  storeTile(product, tile, upperLeft, upperRight, lowerLeft, lowerRight);
}
