enable f16;

// C = A·B in f16, summed in f32: four rows and eight columns an invocation, by ../tiled-product/in-registers.wgsl
// and ../tiled-product/blocks.wgsl.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f16>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f16>>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f16>>; // m × ⌈n⌉₄

alias Wide = vec4<f32>;

fn store(at: u32, column: u32, value: Wide) { c[at] = vec4<f16>(value); }

fn readA(at: vec4<u32>) -> Block { return Block(Wide(a[at.x]), Wide(a[at.y]), Wide(a[at.z]), Wide(a[at.w])); }

fn readB(at: u32, columns: u32) -> Block {
  return Block(Wide(b[at]), Wide(b[at + columns]), Wide(b[at + 2u * columns]), Wide(b[at + 3u * columns]));
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let columns = (shape.n + 3u) / 4u;
  let depth = (shape.k + 3u) / 4u;
  let product = Product(shape.m, columns, 0u);
  let tile = findTile(group, lane, 4u);

  // An invocation beyond the edge computes with the last row or column and stores nothing.
  let rows = min(tile.row + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(shape.m - 1u)) * depth;
  let left = min(tile.left, columns - 1u);
  let right = min(tile.right, columns - 1u);

  var sumLeft = Block();
  var sumRight = Block();
  for (var k = 0u; k < depth; k++) {
    let x = readA(rows + k);
    sumLeft = addProduct(sumLeft, x, readB(4u * k * columns + left, columns));
    sumRight = addProduct(sumRight, x, readB(4u * k * columns + right, columns));
  }
  storeBlock(product, tile.row, tile.left, sumLeft);
  storeBlock(product, tile.row, tile.right, sumRight);
}
